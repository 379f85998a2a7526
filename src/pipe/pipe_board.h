// PipeBoard: the pipes of a process, as whoever looks at them and steers them has them before them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/record.h"
#include "pawl/result.h"
#include "pipe/pipe.h"

namespace pawl {

// What a person has done to one partition.
struct PipeOrder {
  enum class Kind { pause, resume, skip };

  Kind kind = Kind::pause;
  std::string pipe = {};
  kafka::PartitionId partition = {};
  std::int64_t offset = -1;  // of `skip`
  Actor actor = {};
  std::string reason = {};
};

// From any thread.
class PipeBoard {
 public:
  virtual ~PipeBoard() = default;

  virtual std::vector<PipeView> views() const = 0;  // by name

  // Has taken effect when it returns. Fails where there is no such pipe or partition, or no message
  // to skip.
  virtual Result<void> give(const PipeOrder& order) = 0;
};

}  // namespace pawl
