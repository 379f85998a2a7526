// CrashDirectories: what Pawl does with directories, on the disk and with the faults of a CrashVfs.
//
// The lock of a store is the operating system's. For its sake every directory is there in truth
// too, with nothing in it but the lock.
#pragma once

#include <filesystem>
#include <string>

#include "crash_vfs.h"
#include "store/sqlite/directories.h"

namespace pawl {

class CrashDirectories final : public sqlite::Directories {
 public:
  // All that happens is below `root`, which is there.
  CrashDirectories(CrashVfs& vfs, std::filesystem::path root) : vfs_(vfs), root_(std::move(root)) {}

  // To call when the VFS has got another disk.
  void restart();

  Result<void> make(const std::filesystem::path& directory) override;
  Result<std::filesystem::path> make_beside(const std::filesystem::path& path) override;
  Result<std::filesystem::path> make_file_beside(const std::filesystem::path& path) override;
  Result<void> rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Result<void> sync(const std::filesystem::path& directory) override;
  void remove(const std::filesystem::path& path) override;

 private:
  Result<void> before(Call call, const std::filesystem::path& path);
  std::filesystem::path unused_beside(const std::filesystem::path& path);

  CrashVfs& vfs_;
  std::filesystem::path root_;
};

}  // namespace pawl
