// MissingTopics: topics of the file that are not there. Each has a machine too, so that it is seen.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/time.h"
#include "pipe/lane.h"
#include "pipe/partition.h"
#include "pipe/pipe_machine.h"

namespace pawl {

class MissingTopics {
 public:
  explicit MissingTopics(std::shared_ptr<const PipeMachine> machine)
      : machine_(std::move(machine)) {}

  // It was looked for in vain; once more when its machine says so.
  void failed(const std::string& topic, std::string_view code, const std::string& message,
              Instant now);
  void found(const std::string& topic) { lanes_.erase(topic); }

  // One of them is to be looked for again.
  bool is_due(Instant now) const;
  // As partition -1 of each.
  std::vector<PartitionView> views() const;

 private:
  std::shared_ptr<const PipeMachine> machine_;
  std::map<std::string, Lane> lanes_;
};

}  // namespace pawl
