#include "store/sqlite/new_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace pawl::sqlite {
namespace {

namespace fs = std::filesystem;

Error failed(const std::string& what, const fs::path& path, const std::error_code& code) {
  return {ErrorCode::environment, "cannot " + what + " " + path.string() + ": " + code.message()};
}

}  // namespace

Result<void> sync_to_disk(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_synced = file >= 0 && fsync(file) == 0;
  const std::error_code code(errno, std::generic_category());
  if (file >= 0) close(file);
  if (!is_synced) return failed("make durable", path, code);
  return {};
}

Result<NewDirectory> NewDirectory::prepare(const fs::path& directory) {
  std::error_code code;
  if (fs::exists(directory, code) && !fs::is_empty(directory, code))
    return Error{ErrorCode::bad_input,
                 directory.string() + " is there already: name a new directory"};
  fs::path path = fs::absolute(directory).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  path += ".new";
  fs::remove_all(path, code);
  if (!code) fs::create_directories(path, code);
  if (code) return failed("make", path, code);
  return NewDirectory(directory, path);
}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : directory_(std::move(other.directory_)), path_(std::exchange(other.path_, {})) {}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<void> NewDirectory::put_in_place() {
  for (const fs::directory_entry& file : fs::directory_iterator(path_))
    PAWL_CHECK(sync_to_disk(file.path()));
  PAWL_CHECK(sync_to_disk(path_));
  std::error_code code;
  fs::rename(path_, directory_, code);
  if (code) return failed("rename to", directory_, code);
  const fs::path parent = path_.parent_path();
  path_.clear();
  return sync_to_disk(parent);
}

}  // namespace pawl::sqlite
