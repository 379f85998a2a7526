// A directory or a file that is being made: complete under another name first, so that whoever
// opens it by its own finds all of it or nothing.
#pragma once

#include <filesystem>
#include <string>

#include "pawl/result.h"
#include "store/sqlite/directories.h"

namespace pawl::sqlite {

// Has a name for the time being, and takes it away if it is never put in place.
class NewPlace {
 public:
  NewPlace(NewPlace&& other) noexcept;
  NewPlace& operator=(NewPlace&&) = delete;
  ~NewPlace();

  // Where to work until then.
  const std::filesystem::path& path() const { return path_; }
  // What it will be called, as it was asked for.
  const std::filesystem::path& name() const { return name_; }

 protected:
  NewPlace(std::filesystem::path name, std::filesystem::path path, Directories& directories)
      : name_(std::move(name)), path_(std::move(path)), directories_(directories) {}

  Result<void> take_name();

 private:
  std::filesystem::path name_;
  std::filesystem::path path_;  // empty: it is in place, or not ours
  Directories& directories_;
};

class NewDirectory : public NewPlace {
 public:
  // Fails when there is something in the directory.
  static Result<NewDirectory> prepare(const std::filesystem::path& directory,
                                      Directories& directories);

  // Durable when it returns, if what is in it is, with its names.
  Result<void> put_in_place();

 private:
  using NewPlace::NewPlace;
};

class NewFile : public NewPlace {
 public:
  // Fails when the file is there.
  static Result<NewFile> prepare(const std::filesystem::path& file, const std::string& vfs,
                                 Directories& directories);

  // Durable when it returns. Nobody writes to it any more.
  Result<void> put_in_place();

 private:
  NewFile(std::filesystem::path name, std::filesystem::path path, std::string vfs,
          Directories& directories)
      : NewPlace(std::move(name), std::move(path), directories), vfs_(std::move(vfs)) {}

  std::string vfs_;
};

}  // namespace pawl::sqlite
