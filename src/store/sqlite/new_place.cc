#include "store/sqlite/new_place.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace pawl::sqlite {
namespace {

namespace fs = std::filesystem;

Error failed(const std::string& what, const fs::path& path, const std::error_code& code) {
  return {ErrorCode::environment, "cannot " + what + " " + path.string() + ": " + code.message()};
}

std::error_code last_error() { return {errno, std::generic_category()}; }

// Of a name that mkdtemp or mkstemp makes unique.
Result<std::string> name_beside(const fs::path& path) {
  std::error_code code;
  fs::path absolute = fs::absolute(path, code).lexically_normal();
  if (path.empty() || code)
    return Error{ErrorCode::bad_input, "the name of the new place is empty"};
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute.string() + ".XXXXXX";
}

Result<void> give_name(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::rename(from, to, code);
  if (code) return failed("rename to", to, code);
  return {};
}

}  // namespace

Result<void> sync_to_disk(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_synced = file >= 0 && fsync(file) == 0;
  const std::error_code code = last_error();
  if (file >= 0) close(file);
  if (!is_synced) return failed("make durable", path, code);
  return {};
}

// --- a directory -------------------------------------------------------------------------------

Result<NewDirectory> NewDirectory::prepare(const fs::path& directory) {
  std::error_code code;
  if (fs::exists(directory, code) && !fs::is_empty(directory, code))
    return Error{ErrorCode::bad_input,
                 directory.string() + " is there already: name a new directory"};
  PAWL_TRY(std::string name, name_beside(directory));
  if (mkdtemp(name.data()) == nullptr) return failed("make", name, last_error());
  return NewDirectory(directory, name);
}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : directory_(std::move(other.directory_)), path_(std::exchange(other.path_, {})) {}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<void> NewDirectory::put_in_place() {
  std::error_code code;
  for (const fs::directory_entry& file : fs::directory_iterator(path_, code))
    PAWL_CHECK(sync_to_disk(file.path()));
  fs::permissions(path_, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec,
                  code);
  PAWL_CHECK(sync_to_disk(path_));
  PAWL_CHECK(give_name(path_, directory_));
  return sync_to_disk(std::exchange(path_, {}).parent_path());
}

// --- a file ------------------------------------------------------------------------------------

Result<NewFile> NewFile::prepare(const fs::path& file) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(file, code)))
    return Error{ErrorCode::bad_input, file.string() + " is there already: name a new file"};
  PAWL_TRY(std::string name, name_beside(file));
  const int made = mkstemp(name.data());
  if (made < 0) return failed("make", name, last_error());
  close(made);
  return NewFile(file, name);
}

NewFile::NewFile(NewFile&& other) noexcept
    : file_(std::move(other.file_)), path_(std::exchange(other.path_, {})) {}

NewFile::~NewFile() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

Result<void> NewFile::put_in_place() {
  PAWL_CHECK(sync_to_disk(path_));
  PAWL_CHECK(give_name(path_, file_));
  return sync_to_disk(std::exchange(path_, {}).parent_path());
}

}  // namespace pawl::sqlite
