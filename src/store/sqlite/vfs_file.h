// A file beside the database, opened through the same VFS, so that tests can let it fail as well.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::sqlite {

class VfsFile {
 public:
  // Made when it is not there, unless it is only to be read.
  static Result<VfsFile> open(const std::string& path, const std::string& vfs, bool writes);
  static Result<bool> exists(const std::string& path, const std::string& vfs);

  VfsFile(VfsFile&&) noexcept = default;
  VfsFile& operator=(VfsFile&&) noexcept = default;

  Result<std::string> read(std::size_t max);  // from the beginning
  Result<void> write(std::string_view bytes);

 private:
  struct Close {
    void operator()(sqlite3_file* file) const;
  };

  VfsFile(const std::string& path, sqlite3_file* file)
      : path_(std::make_unique<std::string>(path)), file_(file) {}

  std::unique_ptr<std::string> path_;  // stays where it is: the VFS may keep it
  std::unique_ptr<sqlite3_file, Close> file_;
};

}  // namespace pawl::sqlite
