#include "store/sqlite/vfs_file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "pawl/assert.h"
#include "store/sqlite/database.h"

namespace pawl::sqlite {
namespace {

sqlite3_vfs* found(const std::string& vfs) {
  prepare_library();
  sqlite3_vfs* const found = sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str());
  PAWL_ASSERT(found != nullptr, "the VFS was registered");
  return found;
}

Error failed(const std::string& what, const std::string& path, int code) {
  const bool is_full = (code & 0xff) == SQLITE_FULL;
  return {ErrorCode::environment, "cannot " + what + " " + path + ": " + sqlite3_errstr(code) +
                                      (is_full ? "; free some space, then try again"
                                               : "; check the permissions and the disk")};
}

}  // namespace

void VfsFile::Close::operator()(sqlite3_file* file) const {
  if (file->pMethods != nullptr) file->pMethods->xClose(file);
  std::free(file);  // NOLINT: the size is the VFS's
}

Result<VfsFile> VfsFile::open(const std::string& path, const std::string& vfs, bool writes) {
  sqlite3_vfs* const in = found(vfs);
  auto* const file =
      static_cast<sqlite3_file*>(std::calloc(1, static_cast<std::size_t>(in->szOsFile)));  // NOLINT
  PAWL_ASSERT(file != nullptr, "there is memory for a file handle");
  VfsFile opened(path, file);
  const int flags = SQLITE_OPEN_SUPER_JOURNAL |
                    (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  int given = 0;
  // The VFS may keep the name: it lives as long as the file, on the heap.
  const int code = in->xOpen(in, opened.path_->c_str(), file, flags, &given);
  if (code != SQLITE_OK) return failed("open", path, code);
  return opened;
}

Result<bool> VfsFile::exists(const std::string& path, const std::string& vfs) {
  sqlite3_vfs* const in = found(vfs);
  int is_there = 0;
  const int code = in->xAccess(in, path.c_str(), SQLITE_ACCESS_EXISTS, &is_there);
  if (code != SQLITE_OK) return failed("look for", path, code);
  return is_there != 0;
}

Result<std::int64_t> VfsFile::size() {
  sqlite3_int64 size = 0;
  const int code = file_->pMethods->xFileSize(file_.get(), &size);
  if (code != SQLITE_OK) return failed("read", *path_, code);
  return size;
}

Result<std::string> VfsFile::read(std::size_t max, std::int64_t from) {
  PAWL_TRY(const std::int64_t end, size());
  const auto left = static_cast<std::size_t>(std::max<std::int64_t>(0, end - from));
  std::string bytes(std::min({left, max, kPieceMax}), '\0');
  if (bytes.empty()) return bytes;
  const int code =
      file_->pMethods->xRead(file_.get(), bytes.data(), static_cast<int>(bytes.size()), from);
  if (code != SQLITE_OK) return failed("read", *path_, code);
  return bytes;
}

Result<void> VfsFile::write(std::string_view bytes, std::int64_t to) {
  PAWL_ASSERT(bytes.size() <= kPieceMax, "a piece is no longer than it may be");
  const int code =
      file_->pMethods->xWrite(file_.get(), bytes.data(), static_cast<int>(bytes.size()), to);
  if (code != SQLITE_OK) return failed("write", *path_, code);
  return {};
}

Result<void> VfsFile::sync() {
  const int code = file_->pMethods->xSync(file_.get(), SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) return failed("make durable", *path_, code);
  return {};
}

}  // namespace pawl::sqlite
