#include "crash_directories.h"

#include <algorithm>
#include <vector>

namespace pawl {

namespace fs = std::filesystem;

void CrashDirectories::restart() {
  const std::vector<std::string> wanted = vfs_.disk().directories();
  std::vector<fs::path> others;
  for (const fs::directory_entry& one : fs::recursive_directory_iterator(root_))
    if (one.is_directory() && std::find(wanted.begin(), wanted.end(), one.path()) == wanted.end())
      others.push_back(one.path());
  for (const fs::path& other : others) fs::remove_all(other);
  for (const std::string& directory : wanted) fs::create_directories(directory);
}

Result<void> CrashDirectories::before(Call call, const fs::path& path) {
  if (vfs_.before(call) == SQLITE_OK) return {};
  return Error{ErrorCode::environment, std::string(to_text(call)) + " " + path.string() + " fails"};
}

Result<void> CrashDirectories::make(const fs::path& directory) {
  PAWL_CHECK(before(Call::make, directory));
  fs::create_directory(directory);
  vfs_.disk().create_directory(directory);
  return {};
}

fs::path CrashDirectories::unused_beside(const fs::path& path) {
  for (int i = 1;; ++i)
    if (fs::path unused = path.string() + "." + std::to_string(i); vfs_.disk().find(unused) == 0)
      return unused;
}

Result<fs::path> CrashDirectories::make_beside(const fs::path& path) {
  const fs::path made = unused_beside(path);
  PAWL_CHECK(make(made));
  return made;
}

Result<fs::path> CrashDirectories::make_file_beside(const fs::path& path) {
  const fs::path made = unused_beside(path);
  PAWL_CHECK(before(Call::make, made));
  vfs_.disk().create(made);
  return made;
}

Result<void> CrashDirectories::rename(const fs::path& from, const fs::path& to) {
  PAWL_CHECK(before(Call::rename, to));
  if (fs::is_directory(from)) fs::rename(from, to);
  vfs_.disk().rename(from, to);
  return {};
}

// What stands above the root nobody has made.
Result<void> CrashDirectories::sync(const fs::path& directory) {
  if (!directory.string().starts_with(root_.string())) return {};
  PAWL_CHECK(before(Call::sync_names, directory));
  vfs_.disk().sync_names(directory);
  return {};
}

void CrashDirectories::remove(const fs::path& path) {
  if (!before(Call::remove, path)) return;
  fs::remove_all(path);
  vfs_.disk().remove(path);
}

}  // namespace pawl
