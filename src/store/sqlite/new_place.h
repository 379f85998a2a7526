// A directory or a file that is being made: complete under another name first, so that whoever
// opens it by its own finds all of it or nothing.
#pragma once

#include <filesystem>

#include "pawl/result.h"

namespace pawl::sqlite {

class NewDirectory {
 public:
  // Fails when there is something in the directory.
  static Result<NewDirectory> prepare(const std::filesystem::path& directory);

  NewDirectory(NewDirectory&& other) noexcept;
  NewDirectory& operator=(NewDirectory&&) = delete;
  ~NewDirectory();  // takes away what was not put in place

  // Where to work until then.
  const std::filesystem::path& path() const { return path_; }

  // Durable when it returns.
  Result<void> put_in_place();

 private:
  NewDirectory(std::filesystem::path directory, std::filesystem::path path)
      : directory_(std::move(directory)), path_(std::move(path)) {}

  std::filesystem::path directory_;
  std::filesystem::path path_;  // empty: it is in place, or not ours
};

class NewFile {
 public:
  // Fails when the file is there.
  static Result<NewFile> prepare(const std::filesystem::path& file);

  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  const std::filesystem::path& path() const { return path_; }
  Result<void> put_in_place();

 private:
  NewFile(std::filesystem::path file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}

  std::filesystem::path file_;
  std::filesystem::path path_;  // empty: it is in place, or not ours
};

// Makes a file, or the names in a directory, durable.
Result<void> sync_to_disk(const std::filesystem::path& path);

}  // namespace pawl::sqlite
