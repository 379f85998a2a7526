#include "check/codes.h"

#include <algorithm>
#include <string_view>

#include "policy/answers.h"

namespace pawl {
namespace {

using Answers = std::vector<const ErrorRows*>;

bool is_default(const ErrorRows& errors) { return errors.code == "default"; }

Answers answers_to(const ResolvedPolicy& policy, std::string_view code) {
  Answers answers;
  for (const ErrorRows* errors : policy.errors)
    if (answers_code(errors->code, code)) answers.push_back(errors);
  return answers;
}

// `http_5*`: http_500; `bank_*`: bank_x.
std::string code_of_prefix(std::string_view pattern) {
  std::string code(pattern.substr(0, pattern.size() - 1));
  if (code.empty()) return "any_error";
  constexpr std::string_view kHttp = "http_";
  if (!code.starts_with(kHttp)) return code + "x";
  while (code.size() < kHttp.size() + 3) code += '0';
  return code;
}

bool mentions(const ResolvedPolicy& policy, std::string_view code) {
  return std::any_of(policy.errors.begin(), policy.errors.end(), [&](const ErrorRows* errors) {
    return !is_default(*errors) && answers_code(errors->code, code);
  });
}

// One that only `default` answers; when a table answers all codes, any.
std::string unmentioned(const ResolvedPolicy& policy) {
  std::string code = "oops";
  for (int i = 0; i < 8 && mentions(policy, code); ++i) code += "_x";
  return code;
}

}  // namespace

std::vector<std::string> codes_of(const Machine& machine, StateId state,
                                  const std::optional<std::set<std::string>>& read) {
  const ResolvedPolicy& policy = machine.policy_of_state(state);
  std::vector<std::string> codes;
  std::set<Answers> known;
  const auto add = [&](const std::string& code) {
    if (std::find(codes.begin(), codes.end(), code) != codes.end()) return;
    if (known.insert(answers_to(policy, code)).second || read) codes.push_back(code);
  };
  add(unmentioned(policy));
  for (const ErrorRows* errors : policy.errors) {
    if (is_default(*errors) || is_built_in(*errors)) continue;
    add(errors->code.ends_with('*') ? code_of_prefix(errors->code) : errors->code);
  }
  if (read)
    for (const std::string& code : *read) add(code);
  return codes;
}

}  // namespace pawl
