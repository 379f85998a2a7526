// Policies in English: sentences that a person can read to a colleague, as a policy and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/definition.h"
#include "pawl/diagnostic.h"
#include "pawl/where.h"

namespace pawl {

// Where `wait for the next planned time` goes to, in place of a name: the sentences do not know the
// states. Who reads a machine puts the name of the state with `planned` here, who prints one puts
// this in place of that name.
inline constexpr std::string_view kPlannedState = "the state with planned";

// What the sentences say. The schedule concerns the machine around the policy, so it is given
// apart.
struct EnglishPolicy {
  Policy policy = {};
  std::optional<Schedule> schedule = {};

  friend bool operator==(const EnglishPolicy&, const EnglishPolicy&) = default;
};

// Reads sentences, one per line. A line that is none of them is an error that names the nearest
// one; all wrong lines are reported, and none is skipped. `where` is the place of the text in its
// file.
std::optional<EnglishPolicy> parse_policy_english(std::string_view text, Where where,
                                                  Diagnostics& diagnostics);

// A policy as sentences. Lines and `unsaid` together are the whole policy: what no sentence can say
// is not half said.
struct PolicyInEnglish {
  std::vector<std::string> lines;   // read back as just what they were said of
  std::vector<std::string> unsaid;  // `lease: how long a worker may be silent`: key, and what it is
};

PolicyInEnglish in_english(const EnglishPolicy& given);

}  // namespace pawl
