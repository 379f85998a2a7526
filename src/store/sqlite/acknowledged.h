// The number of the last batch that was acknowledged, in a file beside the tables.
//
// A damaged write-ahead log can make SQLite forget commits without a word. This file is written
// with every batch, without waiting for the disk: a store that knows less than it says has lost
// something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/result.h"
#include "store/sqlite/vfs_file.h"

namespace pawl::sqlite {

class Acknowledged {
 public:
  static Result<Acknowledged> open(const std::string& path, const std::string& vfs);

  // None: it was never written, or a power cut has left nothing readable.
  std::optional<std::int64_t> batch() const { return batch_; }
  Result<void> put(std::int64_t batch);

 private:
  Acknowledged(VfsFile file, std::optional<std::int64_t> batch)
      : file_(std::move(file)), batch_(batch) {}

  VfsFile file_;
  std::optional<std::int64_t> batch_;
};

}  // namespace pawl::sqlite
