#include "store/sqlite/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace pawl::sqlite {
namespace {

constexpr const char* kName = "pawl.lock";

std::string said(int error) { return std::generic_category().message(error); }

// Who has the lock, as it wrote down.
std::string owner(int file) {
  std::array<char, 64> text{};
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  std::string process(text.data(), static_cast<std::size_t>(size > 0 ? size : 0));
  process = process.substr(0, process.find('\n'));
  return process.empty() ? "another process" : "process " + process;
}

}  // namespace

Result<DirectoryLock> DirectoryLock::take(const std::filesystem::path& directory) {
  const std::string path = directory / kName;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0)
    return Error{ErrorCode::environment, "cannot write in " + directory.string() + ": " +
                                             said(errno) +
                                             "; make the directory writable for this user"};
  DirectoryLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return Error{ErrorCode::environment, "cannot lock " + path + ": " + said(errno)};
    return Error{
        ErrorCode::environment,
        directory.string() + " is in use by " + owner(file) +
            ": stop it first, or, if it is a server, use it through PAWL_URL and PAWL_TOKEN"};
  }
  // For people only: if it cannot be written, the lock holds all the same.
  const std::string process = std::to_string(getpid()) + "\n";
  if (ftruncate(file, 0) != 0 || pwrite(file, process.data(), process.size(), 0) < 0) errno = 0;
  return lock;
}

bool DirectoryLock::exists(const std::filesystem::path& directory) {
  std::error_code unknown;
  return std::filesystem::exists(directory / kName, unknown);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace pawl::sqlite
