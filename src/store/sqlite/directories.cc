#include "store/sqlite/directories.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace pawl::sqlite {
namespace {

namespace fs = std::filesystem;

Error failed(const std::string& what, const fs::path& path, const std::error_code& code) {
  return {ErrorCode::environment, "cannot " + what + " " + path.string() + ": " + code.message()};
}

std::error_code last_error() { return {errno, std::generic_category()}; }

class SystemDirectories final : public Directories {
 public:
  Result<void> make(const fs::path& directory) override {
    std::error_code code;
    fs::create_directory(directory, code);
    if (code) return failed("create the directory", directory, code);
    return {};
  }

  Result<fs::path> make_beside(const fs::path& path) override {
    std::string name = path.string() + kUnique;
    if (mkdtemp(name.data()) == nullptr) return failed("make", name, last_error());
    return fs::path(name);
  }

  Result<fs::path> make_file_beside(const fs::path& path) override {
    std::string name = path.string() + kUnique;
    const int made = mkstemp(name.data());
    if (made < 0) return failed("make", name, last_error());
    close(made);
    return fs::path(name);
  }

  Result<void> rename(const fs::path& from, const fs::path& to) override {
    std::error_code code;
    fs::rename(from, to, code);
    if (code) return failed("rename to", to, code);
    return {};
  }

  Result<void> sync(const fs::path& directory) override {
    const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_synced = file >= 0 && fsync(file) == 0;
    const std::error_code code = last_error();
    if (file >= 0) close(file);
    if (!is_synced) return failed("make durable", directory, code);
    return {};
  }

  void remove(const fs::path& path) override {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

 private:
  static constexpr const char* kUnique = ".XXXXXX";  // mkdtemp and mkstemp replace the letters
};

}  // namespace

Directories& system_directories() {
  static SystemDirectories directories;
  return directories;
}

// Those that are there may come from a process that was killed before it could make them durable.
Result<void> make_durable_directory(const fs::path& directory, Directories& directories) {
  const fs::path above = directory.parent_path();
  if (above == directory) return {};
  PAWL_CHECK(make_durable_directory(above, directories));
  std::error_code code;
  if (!fs::is_directory(directory, code)) PAWL_CHECK(directories.make(directory));
  // Where nobody may write, nobody has made anything.
  if (access(above.c_str(), R_OK | W_OK) != 0) return {};
  return directories.sync(above);
}

}  // namespace pawl::sqlite
