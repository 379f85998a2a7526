// What is done with names and directories; SQLite's VFS does only what is done with files. A test
// puts its own in the place of the operating system's, on which a process can die between any two.
#pragma once

#include <filesystem>

#include "pawl/result.h"

namespace pawl::sqlite {

class Directories {
 public:
  virtual ~Directories() = default;

  virtual Result<void> make(const std::filesystem::path& directory) = 0;
  // Empty ones, of a name that nothing had before: that of `path` and something behind it.
  virtual Result<std::filesystem::path> make_beside(const std::filesystem::path& path) = 0;
  virtual Result<std::filesystem::path> make_file_beside(const std::filesystem::path& path) = 0;

  // Within one directory. What had the name is replaced if it is a file or an empty directory.
  virtual Result<void> rename(const std::filesystem::path& from,
                              const std::filesystem::path& to) = 0;
  // Makes the names in a directory durable, and of nothing else.
  virtual Result<void> sync(const std::filesystem::path& directory) = 0;
  // With all that is in it, as far as that goes.
  virtual void remove(const std::filesystem::path& path) = 0;
};

// Of the operating system.
Directories& system_directories();

// Makes a directory, and those above it that are missing. All are durable when it returns.
Result<void> make_durable_directory(const std::filesystem::path& directory,
                                    Directories& directories);

}  // namespace pawl::sqlite
