// Ward: which record is in work, in a file that a crash of the process does not take away.
//
// A record that was in work at two crashes, and was not through with it in between, is taken to be
// their cause: it is put on hold, so that one bad record does not stop all others for ever. In work
// is what is being decided, and what a task thread of this process runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "pawl/record.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kTaskThreadsMax = 128;

class Ward {
 public:
  // What the file holds: one page, written by the processor alone.
  struct Page {
    static constexpr std::uint64_t kMagic = 0x3164726177777770;  // "pwwward1"
    struct Suspect {
      std::uint64_t record = 0;
      std::uint32_t crashes = 0;
      std::uint32_t in_task = 0;  // a task ran; else it was being decided
    };

    std::uint64_t magic = kMagic;
    std::uint64_t decided = 0;
    std::array<std::uint64_t, kTaskThreadsMax> run = {};
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

  void enter(RecordId record) { page_->decided = record.value; }
  void leave() { page_->decided = 0; }

  // Of one task thread, on that thread.
  void enter_task(std::size_t thread, RecordId record) { page_->run[thread] = record.value; }
  void leave_task(std::size_t thread) { page_->run[thread] = 0; }

  // Records that were in work at two crashes.
  std::vector<RecordId> poisoned() const;
  // Records whose tasks ran when the last process ended: nobody works on them any more.
  const std::vector<RecordId>& interrupted() const { return interrupted_; }

  // It has been decided, or its task has ended, and nothing happened. On the thread that decides.
  void clear(RecordId record) {
    if (has_suspects_) forget(record, false);
  }
  void clear_task(RecordId record) {
    if (has_suspects_) forget(record, true);
  }

 private:
  void begin();
  void suspect(std::uint64_t record, bool in_task);
  void forget(RecordId record, bool in_task);

  Page own_ = {};
  Page* page_ = &own_;
  bool is_mapped_ = false;
  bool has_suspects_ = false;
  std::vector<RecordId> interrupted_ = {};
};

}  // namespace pawl
