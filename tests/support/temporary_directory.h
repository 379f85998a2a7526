// A directory that goes with its owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "pawl/assert.h"

namespace pawl {

class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(
      const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
    std::string name = in / "pawl-XXXXXX";
    PAWL_ASSERT(mkdtemp(name.data()) != nullptr, "a directory can be made for temporary files");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace pawl
