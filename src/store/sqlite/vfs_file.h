// A file beside the database, opened through the same VFS, so that tests can let it fail as well.
#pragma once

#include <sqlite3.h>

#include <cstdint>
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

  Result<std::int64_t> size();
  // Less than `max` at the end, and never more than kPieceMax.
  Result<std::string> read(std::size_t max, std::int64_t from = 0);
  Result<void> write(std::string_view bytes, std::int64_t to = 0);  // of kPieceMax at most
  Result<void> sync();

  static constexpr std::size_t kPieceMax = 1U << 16U;  // SQLite's own VFS takes less than 128 KiB

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
