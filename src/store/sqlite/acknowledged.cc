#include "store/sqlite/acknowledged.h"

#include <charconv>

#include "base/checksum.h"

namespace pawl::sqlite {
namespace {

// One line of fixed length: the number and its checksum.
std::string line_of(std::int64_t batch) {
  const auto padded = [](const std::string& digits) {
    return std::string(20 - digits.size(), '0') + digits;
  };
  const std::string number = padded(std::to_string(batch));
  return "batch " + number + " " + padded(std::to_string(checksum(number))) + "\n";
}

}  // namespace

Result<Acknowledged> Acknowledged::open(const std::string& path, const std::string& vfs) {
  PAWL_TRY(VfsFile file, VfsFile::open(path, vfs, true));
  PAWL_TRY(const std::string line, file.read(64));
  constexpr std::size_t kNumberAt = 6;
  std::int64_t batch = 0;
  if (line.size() > kNumberAt)
    std::from_chars(line.data() + kNumberAt, line.data() + line.size(), batch);
  const bool is_ours = batch >= 0 && line == line_of(batch);
  return Acknowledged(std::move(file), is_ours ? std::optional(batch) : std::nullopt);
}

Result<void> Acknowledged::put(std::int64_t batch) {
  batch_ = batch;
  return file_.write(line_of(batch));
}

}  // namespace pawl::sqlite
