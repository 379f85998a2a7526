#include "store/sqlite/new_place.h"

#include <system_error>
#include <utility>

#include "store/sqlite/vfs_file.h"

namespace pawl::sqlite {
namespace {

namespace fs = std::filesystem;

// Without what may stand behind a directory's name.
Result<fs::path> whole_name(const fs::path& path) {
  std::error_code code;
  fs::path absolute = fs::absolute(path, code).lexically_normal();
  if (path.empty() || code) return Error{ErrorCode::bad_input, "the name of the target is empty"};
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute;
}

}  // namespace

NewPlace::NewPlace(NewPlace&& other) noexcept
    : name_(std::move(other.name_)),
      path_(std::exchange(other.path_, {})),
      directories_(other.directories_) {}

NewPlace::~NewPlace() {
  if (!path_.empty()) directories_.remove(path_);
}

Result<void> NewPlace::take_name() {
  PAWL_TRY(const fs::path whole, whole_name(name_));
  PAWL_CHECK(directories_.rename(path_, whole));
  path_.clear();
  return directories_.sync(whole.parent_path());
}

// --- a directory -------------------------------------------------------------------------------

Result<NewDirectory> NewDirectory::prepare(const fs::path& directory, Directories& directories) {
  std::error_code code;
  if (fs::exists(directory, code) && !fs::is_empty(directory, code))
    return Error{ErrorCode::bad_input,
                 directory.string() + " already exists: name a new directory"};
  PAWL_TRY(const fs::path whole, whole_name(directory));
  PAWL_TRY(const fs::path path, directories.make_beside(whole));
  return NewDirectory(directory, path, directories);
}

Result<void> NewDirectory::put_in_place() {
  std::error_code ignored;
  fs::permissions(path(), fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec,
                  ignored);
  return take_name();
}

// --- a file ------------------------------------------------------------------------------------

Result<NewFile> NewFile::prepare(const fs::path& file, const std::string& vfs,
                                 Directories& directories) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(file, code)))
    return Error{ErrorCode::bad_input, file.string() + " already exists: name a new file"};
  PAWL_TRY(const fs::path whole, whole_name(file));
  PAWL_TRY(const fs::path path, directories.make_file_beside(whole));
  return NewFile(file, path, vfs, directories);
}

Result<void> NewFile::put_in_place() {
  {
    PAWL_TRY(VfsFile file, VfsFile::open(path(), vfs_, false));
    PAWL_CHECK(file.sync());
  }
  return take_name();
}

}  // namespace pawl::sqlite
