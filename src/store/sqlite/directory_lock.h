// A directory has one process that works in it.
#pragma once

#include <filesystem>

#include "pawl/result.h"

namespace pawl::sqlite {

class DirectoryLock {
 public:
  // Holds `directory`/pawl.lock until it goes, or the process does. Fails, naming the process, when
  // another one has it; nothing is touched then.
  static Result<DirectoryLock> take(const std::filesystem::path& directory);

  // Whether a process has ever taken it.
  static bool exists(const std::filesystem::path& directory);

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int file) : file_(file) {}

  int file_;
};

}  // namespace pawl::sqlite
