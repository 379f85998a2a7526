#include "crash_vfs.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "pawl/assert.h"

namespace pawl {

std::string_view to_text(Call call) {
  switch (call) {
    case Call::open:
      return "open";
    case Call::write:
      return "write";
    case Call::sync:
      return "sync";
    case Call::truncate:
      return "truncate";
    case Call::remove:
      return "remove";
    case Call::read:
      return "read";
    case Call::make:
      return "make";
    case Call::rename:
      return "rename";
    case Call::sync_names:
      return "sync of a directory";
  }
  return "";
}

namespace {

std::string above(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

// Begins as SQLite wants it, and lives in memory that SQLite gives and frees.
struct CrashVfs::Handle {
  sqlite3_file base = {};
  CrashVfs* vfs = nullptr;
  Disk::File file = 0;
  std::string path = {};     // empty: it has no name
  bool syncs_names = false;  // with its first sync: a journal that may be new
  bool removed_with_close = false;
  int lock = SQLITE_LOCK_NONE;
  Shared* shared = nullptr;
  std::uint32_t shared_locks = 0;  // a bit for each
};

struct CrashVfs::Methods {
  static Handle& of(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
  static CrashVfs& of(sqlite3_vfs* vfs) { return *static_cast<CrashVfs*>(vfs->pAppData); }

  // --- files -----------------------------------------------------------------------------------

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* given) {
    CrashVfs& self = of(vfs);
    file->pMethods = nullptr;
    if (const int code = self.before(Call::open); code != SQLITE_OK) return code;
    Handle made;
    made.vfs = &self;
    if (path != nullptr) made.path = path;
    made.removed_with_close = path == nullptr || (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    made.file = path == nullptr ? self.disk_.create_nameless() : self.disk_.find(made.path);
    if (made.file == 0) {
      if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
      made.file = self.disk_.create(made.path);
    }
    made.syncs_names =
        (flags & SQLITE_OPEN_CREATE) != 0 &&
        (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0;
    made.base.pMethods = methods();
    self.handles_.push_back(new (file) Handle(std::move(made)));
    if (given != nullptr) *given = flags;
    return SQLITE_OK;
  }

  static int close(sqlite3_file* file) {
    Handle& handle = of(file);
    CrashVfs& self = *handle.vfs;
    shm_unmap(file, 0);
    if (handle.removed_with_close && !handle.path.empty() && !self.is_dead())
      self.disk_.remove(handle.path);
    std::erase(self.handles_, &handle);
    handle.~Handle();
    return SQLITE_OK;
  }

  static int read(sqlite3_file* file, void* to, int size, sqlite3_int64 from) {
    const Handle& handle = of(file);
    if (const int code = handle.vfs->before(Call::read); code != SQLITE_OK) return code;
    const std::string& bytes = handle.vfs->disk_.bytes(handle.file);
    const auto wanted = static_cast<std::size_t>(size);
    const std::size_t at = std::min(static_cast<std::size_t>(from), bytes.size());
    const std::size_t there = std::min(bytes.size() - at, wanted);
    std::memcpy(to, bytes.data() + at, there);
    std::memset(static_cast<char*>(to) + there, 0, wanted - there);
    return there == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }

  static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 to) {
    const Handle& handle = of(file);
    CrashVfs& self = *handle.vfs;
    const std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(size));
    const auto at = static_cast<std::size_t>(to);
    const int code = self.before(Call::write);
    if (code == SQLITE_FULL) self.disk_.write(handle.file, at, bytes.substr(0, bytes.size() / 2));
    if (code != SQLITE_OK) return code;
    const std::size_t end = self.disk_.bytes(handle.file).size();
    const std::size_t more = at + bytes.size() > end ? at + bytes.size() - end : 0;
    if (more > 0 && self.disk_.bytes_used() + more > self.space_) return SQLITE_FULL;
    self.disk_.write(handle.file, at, bytes);
    return SQLITE_OK;
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    const Handle& handle = of(file);
    if (const int code = handle.vfs->before(Call::truncate); code != SQLITE_OK) return code;
    handle.vfs->disk_.truncate(handle.file, static_cast<std::size_t>(size));
    return SQLITE_OK;
  }

  // As Linux does: what could not be written is taken for written afterwards.
  static int sync(sqlite3_file* file, int) {
    Handle& handle = of(file);
    CrashVfs& self = *handle.vfs;
    if (const int code = self.before(Call::sync); code != SQLITE_OK) {
      if (!self.is_dead()) self.disk_.lose_unsynced(handle.file);
      return code;
    }
    self.disk_.sync(handle.file);
    // As SQLite's own VFS does: whether this failed nobody learns.
    if (std::exchange(handle.syncs_names, false) && self.before(Call::sync_names) == SQLITE_OK)
      self.disk_.sync_names(above(handle.path));
    return SQLITE_OK;
  }

  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    const Handle& handle = of(file);
    if (handle.vfs->is_dead()) return SQLITE_IOERR_FSTAT;
    *size = static_cast<sqlite3_int64>(handle.vfs->disk_.bytes(handle.file).size());
    return SQLITE_OK;
  }

  // --- locks -----------------------------------------------------------------------------------

  // The highest that another connection holds.
  static int lock_of_others(const Handle& handle) {
    int highest = SQLITE_LOCK_NONE;
    for (const Handle* other : handle.vfs->handles_)
      if (other != &handle && other->file == handle.file) highest = std::max(highest, other->lock);
    return highest;
  }

  static int lock(sqlite3_file* file, int level) {
    Handle& handle = of(file);
    if (handle.vfs->is_dead()) return SQLITE_IOERR_LOCK;
    if (handle.lock >= level) return SQLITE_OK;
    const int others = lock_of_others(handle);
    const int allowed = level == SQLITE_LOCK_SHARED     ? SQLITE_LOCK_RESERVED
                        : level == SQLITE_LOCK_RESERVED ? SQLITE_LOCK_SHARED
                                                        : SQLITE_LOCK_NONE;
    if (others > allowed) {
      if (level == SQLITE_LOCK_EXCLUSIVE && others == SQLITE_LOCK_SHARED)
        handle.lock = SQLITE_LOCK_PENDING;
      return SQLITE_BUSY;
    }
    handle.lock = level;
    return SQLITE_OK;
  }

  static int unlock(sqlite3_file* file, int level) {
    Handle& handle = of(file);
    handle.lock = std::min(handle.lock, level);
    return SQLITE_OK;
  }

  static int check_reserved_lock(sqlite3_file* file, int* is_reserved) {
    const Handle& handle = of(file);
    if (handle.vfs->is_dead()) return SQLITE_IOERR_CHECKRESERVEDLOCK;
    *is_reserved = std::max(handle.lock, lock_of_others(handle)) >= SQLITE_LOCK_RESERVED ? 1 : 0;
    return SQLITE_OK;
  }

  // --- shared memory ---------------------------------------------------------------------------

  static int shm_map(sqlite3_file* file, int region, int size, int extends, void volatile** at) {
    Handle& handle = of(file);
    *at = nullptr;
    if (handle.vfs->is_dead()) return SQLITE_IOERR_SHMMAP;
    if (handle.shared == nullptr) {
      handle.shared = &handle.vfs->shared_[handle.path];
      ++handle.shared->handles;
    }
    auto& regions = handle.shared->regions;
    const auto index = static_cast<std::size_t>(region);
    while (extends != 0 && regions.size() <= index)
      regions.push_back(std::make_unique<std::vector<std::uint64_t>>(
          static_cast<std::size_t>(size) / sizeof(std::uint64_t)));
    if (index < regions.size()) *at = regions[index]->data();
    return SQLITE_OK;
  }

  static int shm_lock(sqlite3_file* file, int first, int count, int flags) {
    Handle& handle = of(file);
    Shared& shared = *handle.shared;
    const auto begin = static_cast<std::size_t>(first);
    const std::size_t end = begin + static_cast<std::size_t>(count);
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
      for (std::size_t i = begin; i < end; ++i) release(handle, i);
      return SQLITE_OK;
    }
    if (handle.vfs->is_dead()) return SQLITE_IOERR_SHMLOCK;
    const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_own = (handle.shared_locks >> i & 1U) != 0;
      if (is_own) continue;
      if (shared.writer[i] != nullptr || (exclusive && shared.readers[i] > 0)) return SQLITE_BUSY;
    }
    for (std::size_t i = begin; i < end; ++i) {
      if ((handle.shared_locks >> i & 1U) != 0) continue;
      handle.shared_locks |= 1U << i;
      if (exclusive) {
        shared.writer[i] = &handle;
      } else {
        ++shared.readers[i];
      }
    }
    return SQLITE_OK;
  }

  static void release(Handle& handle, std::size_t i) {
    if ((handle.shared_locks >> i & 1U) == 0) return;
    handle.shared_locks &= ~(1U << i);
    if (handle.shared->writer[i] == &handle) {
      handle.shared->writer[i] = nullptr;
    } else {
      --handle.shared->readers[i];
    }
  }

  static void shm_barrier(sqlite3_file*) {}

  static int shm_unmap(sqlite3_file* file, int) {
    Handle& handle = of(file);
    if (handle.shared == nullptr) return SQLITE_OK;
    for (std::size_t i = 0; i < SQLITE_SHM_NLOCK; ++i) release(handle, i);
    if (--handle.shared->handles == 0) handle.vfs->shared_.erase(handle.path);
    handle.shared = nullptr;
    return SQLITE_OK;
  }

  // --- the rest --------------------------------------------------------------------------------

  static int file_control(sqlite3_file*, int what, void* value) {
    if (what != SQLITE_FCNTL_MMAP_SIZE) return SQLITE_NOTFOUND;
    *static_cast<sqlite3_int64*>(value) = 0;  // it maps nothing
    return SQLITE_OK;
  }
  static int sector_size(sqlite3_file*) { return 4096; }
  static int device_characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  static int remove(sqlite3_vfs* vfs, const char* path, int syncs_names) {
    CrashVfs& self = of(vfs);
    if (const int code = self.before(Call::remove); code != SQLITE_OK) return code;
    if (self.disk_.find(path) == 0) return SQLITE_IOERR_DELETE_NOENT;
    self.disk_.remove(path);
    if (syncs_names != 0) self.disk_.sync_names(above(path));
    return SQLITE_OK;
  }

  static int access(sqlite3_vfs* vfs, const char* path, int, int* is_there) {
    CrashVfs& self = of(vfs);
    if (self.is_dead()) return SQLITE_IOERR_ACCESS;
    *is_there = self.disk_.find(path) != 0 ? 1 : 0;
    return SQLITE_OK;
  }

  static int full_path(sqlite3_vfs*, const char* path, int size, char* full) {
    sqlite3_snprintf(size, full, "%s", path);
    return SQLITE_OK;
  }

  // Always the same, so that a run can be repeated.
  static int randomness(sqlite3_vfs*, int size, char* bytes) {
    std::memset(bytes, 7, static_cast<std::size_t>(size));
    return size;
  }
  static int sleep(sqlite3_vfs*, int microseconds) { return microseconds; }
  static int current_time(sqlite3_vfs*, sqlite3_int64* milliseconds) {
    *milliseconds = 212'000'000'000'000;
    return SQLITE_OK;
  }
  static int last_error(sqlite3_vfs*, int, char*) { return 0; }

  static const sqlite3_io_methods* methods() {
    static const sqlite3_io_methods all{.iVersion = 2,
                                        .xClose = close,
                                        .xRead = read,
                                        .xWrite = write,
                                        .xTruncate = truncate,
                                        .xSync = sync,
                                        .xFileSize = file_size,
                                        .xLock = lock,
                                        .xUnlock = unlock,
                                        .xCheckReservedLock = check_reserved_lock,
                                        .xFileControl = file_control,
                                        .xSectorSize = sector_size,
                                        .xDeviceCharacteristics = device_characteristics,
                                        .xShmMap = shm_map,
                                        .xShmLock = shm_lock,
                                        .xShmBarrier = shm_barrier,
                                        .xShmUnmap = shm_unmap};
    return &all;
  }
};

CrashVfs::CrashVfs() : vfs_(std::make_unique<sqlite3_vfs>()) {
  static int count = 0;
  name_ = "crash" + std::to_string(++count);
  *vfs_ = {.iVersion = 2,
           .szOsFile = sizeof(Handle),
           .mxPathname = 512,
           .zName = name_.c_str(),
           .pAppData = this,
           .xOpen = Methods::open,
           .xDelete = Methods::remove,
           .xAccess = Methods::access,
           .xFullPathname = Methods::full_path,
           .xRandomness = Methods::randomness,
           .xSleep = Methods::sleep,
           .xGetLastError = Methods::last_error,
           .xCurrentTimeInt64 = Methods::current_time};
  sqlite3_vfs_register(vfs_.get(), 0);
}

CrashVfs::~CrashVfs() { sqlite3_vfs_unregister(vfs_.get()); }

void CrashVfs::restart(Disk disk) {
  PAWL_ASSERT(handles_.empty(), "a process that has ended has no file open");
  shared_.clear();
  disk_ = std::move(disk);
  calls_ = 0;
  dies_at_ = std::numeric_limits<std::int64_t>::max();
  space_ = std::numeric_limits<std::size_t>::max();
  clear_faults();
}

void CrashVfs::clear_faults() {
  fault_.reset();
  calls_of_ = {};
  faults_fired_ = 0;
}

int CrashVfs::before(Call call) {
  constexpr std::array<int, kCallKinds> kErrors{
      SQLITE_CANTOPEN,       SQLITE_IOERR_WRITE,  SQLITE_IOERR_FSYNC,
      SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_DELETE, SQLITE_IOERR_READ,
      SQLITE_IOERR,          SQLITE_IOERR,        SQLITE_IOERR_FSYNC};
  const auto kind = static_cast<std::size_t>(call);
  if (call != Call::read) ++calls_;
  if (calls_ == dies_at_ && call != Call::read) died_in_ = call;
  if (is_dead()) return kErrors[kind];
  const std::int64_t count = ++calls_of_[kind];
  if (!fault_ || fault_->call != call) return SQLITE_OK;
  if (count != fault_->at && !(fault_->for_good && count > fault_->at)) return SQLITE_OK;
  ++faults_fired_;
  const bool is_full = fault_->why == Fault::Why::no_space && call == Call::write;
  return is_full ? SQLITE_FULL : kErrors[kind];
}

}  // namespace pawl
