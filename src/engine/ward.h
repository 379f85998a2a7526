// Ward: which record is in work, in a file that a crash of the process does not take away.
//
// A record that was in work at two crashes, and was not decided in between, is taken to be their
// cause: it is put on hold, so that one bad record does not stop all others for ever.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "pawl/record.h"
#include "pawl/result.h"

namespace pawl {

class Ward {
 public:
  // What the file holds: one page, written by the processor alone.
  struct Page {
    static constexpr std::uint64_t kMagic = 0x3164726177777770;  // "pwwward1"
    struct Suspect {
      std::uint64_t record = 0;
      std::uint64_t crashes = 0;
    };

    std::uint64_t magic = kMagic;
    std::uint64_t in_work = 0;
    std::array<Suspect, 64> suspects = {};
  };

  // Without a file: nothing is remembered.
  Ward();
  // Made when it is not there. What is in it that is no ward of ours is written over.
  static Result<Ward> open(const std::filesystem::path& file);
  // On memory that is kept by somebody else; for tests.
  explicit Ward(Page& page);

  Ward(Ward&& other) noexcept;
  Ward& operator=(Ward&&) = delete;
  ~Ward();

  void enter(RecordId record) { page_->in_work = record.value; }
  void leave() { page_->in_work = 0; }

  // Records that were in work at two crashes.
  std::vector<RecordId> poisoned() const;

  // It has been decided, and nothing happened.
  void clear(RecordId record) {
    if (has_suspects_) forget(record);
  }

 private:
  void begin();
  void forget(RecordId record);

  Page own_ = {};
  Page* page_ = &own_;
  bool is_mapped_ = false;
  bool has_suspects_ = false;
};

}  // namespace pawl
