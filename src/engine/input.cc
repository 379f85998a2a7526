#include "engine/input.h"

#include <utility>

#include "base/json_text.h"

namespace pawl {
namespace {

std::string too_long(const std::string& what, std::size_t size, std::size_t max) {
  return what + " is " + std::to_string(size) + " bytes; the limit is " + std::to_string(max);
}

std::string check_json_of(const std::string& what, const std::string& json, std::size_t max) {
  if (json.size() > max) return too_long(what, json.size(), max);
  if (json == "{}") return {};
  if (const auto checked = check_json(json); !checked) return what + ": " + checked.error().message;
  return {};
}

std::string check_key(const std::string& what, const std::string& key) {
  if (key.size() > kKeyMax) return too_long(what, key.size(), kKeyMax);
  if (!is_utf8(key) || key.find('\0') != std::string::npos)
    return what + " is not valid UTF-8, or contains a NUL byte";
  return {};
}

// Data has its own bound, which `decide` says.
constexpr std::size_t kAnySize = static_cast<std::size_t>(-1);

struct Check {
  Stimulus& stimulus;

  std::string operator()(const Stimulus::Create& create) const {
    if (auto wrong = check_json_of("`data`", create.data, kAnySize); !wrong.empty()) return wrong;
    return check_json_of("the payload", create.payload, kPayloadMax);
  }
  std::string operator()(const Stimulus::Fire& fire) const {
    if (auto wrong = check_json_of("the payload", fire.payload, kPayloadMax); !wrong.empty())
      return wrong;
    return fire.create ? (*this)(*fire.create) : std::string();
  }
  std::string operator()(const Stimulus::Beat& beat) const {
    if (beat.progress.empty()) return {};
    return check_json_of("the progress", beat.progress, kPayloadMax);
  }
  std::string operator()(Stimulus::Done& done) const {
    std::string wrong = check_json_of("the result", done.result, kPayloadMax);
    if (!wrong.empty())
      stimulus.what = Stimulus::Fail{done.token_hash, {.code = "bad_result", .message = wrong}};
    return {};
  }
  std::string operator()(Stimulus::Fail& fail) const {
    if (fail.error.code.empty()) return "a failure needs a code";
    if (fail.error.code.size() > kKeyMax)
      return too_long("the code", fail.error.code.size(), kKeyMax);
    if (fail.error.message.size() > kErrorMessageMax) fail.error.message.resize(kErrorMessageMax);
    if (fail.error.detail.empty()) return {};
    return check_json_of("the detail", fail.error.detail, kPayloadMax);
  }
  std::string operator()(const Stimulus::Order& order) const {
    if (order.verb != Stimulus::Order::Verb::patch) return {};
    return check_json_of("the patch", order.data, kAnySize);
  }
  std::string operator()(const auto&) const { return {}; }
};

}  // namespace

std::string check_input(Stimulus& stimulus) {
  if (stimulus.key.empty()) return "a record needs a key";
  if (auto wrong = check_key("the key", stimulus.key); !wrong.empty()) return wrong;
  if (auto wrong = check_key("the idempotency key", stimulus.idempotency_key); !wrong.empty())
    return wrong;
  return std::visit(Check{stimulus}, stimulus.what);
}

}  // namespace pawl
