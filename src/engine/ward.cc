#include "engine/ward.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace pawl {
namespace {

constexpr std::uint32_t kCrashes = 2;

Error cannot_open(const std::filesystem::path& file) {
  return {ErrorCode::environment,
          "cannot open " + file.string() + " for reading and writing: " + std::strerror(errno)};
}

}  // namespace

Ward::Ward() = default;

Ward::Ward(Page& page) : page_(&page) { begin(); }

Result<Ward> Ward::open(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return cannot_open(file);
  void* memory = MAP_FAILED;
  if (ftruncate(fd, sizeof(Page)) == 0)
    memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  Result<Ward> failed = memory == MAP_FAILED ? cannot_open(file) : Error{};
  ::close(fd);
  if (memory == MAP_FAILED) return failed;
  auto* page = static_cast<Page*>(memory);
  if (page->magic != Page::kMagic) new (page) Page;
  Ward ward(*page);
  ward.is_mapped_ = true;
  return ward;
}

Ward::Ward(Ward&& other) noexcept
    : own_(other.own_),
      page_(other.page_ == &other.own_ ? &own_ : other.page_),
      is_mapped_(std::exchange(other.is_mapped_, false)),
      has_suspects_(other.has_suspects_),
      interrupted_(std::move(other.interrupted_)) {}

Ward::~Ward() {
  if (is_mapped_) munmap(page_, sizeof(Page));
}

// What was in work when the last process ended has seen one more crash.
void Ward::begin() {
  suspect(std::exchange(page_->decided, 0), false);
  for (std::uint64_t& record : page_->run) {
    if (record != 0) interrupted_.push_back({record});
    suspect(std::exchange(record, 0), true);
  }
  has_suspects_ = std::any_of(page_->suspects.begin(), page_->suspects.end(),
                              [](const auto& suspect) { return suspect.record != 0; });
}

// Where there is no room, the one with the fewest crashes makes way.
void Ward::suspect(std::uint64_t record, bool in_task) {
  if (record == 0) return;
  auto& suspects = page_->suspects;
  auto at = std::find_if(suspects.begin(), suspects.end(), [&](const auto& known) {
    return known.record == record && (known.in_task != 0) == in_task;
  });
  if (at == suspects.end()) {
    at = std::min_element(suspects.begin(), suspects.end(),
                          [](const auto& a, const auto& b) { return a.crashes < b.crashes; });
    *at = {record, 0, in_task ? 1U : 0U};
  }
  ++at->crashes;
}

std::vector<RecordId> Ward::poisoned() const {
  std::vector<RecordId> records;
  for (const auto& suspect : page_->suspects)
    if (suspect.crashes >= kCrashes) records.push_back({suspect.record});
  return records;
}

void Ward::forget(RecordId record, bool in_task) {
  has_suspects_ = false;
  for (auto& suspect : page_->suspects) {
    if (suspect.record == record.value && (suspect.in_task != 0) == in_task) suspect = {};
    has_suspects_ = has_suspects_ || suspect.record != 0;
  }
}

}  // namespace pawl
