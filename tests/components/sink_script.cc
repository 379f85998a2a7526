#include "sink_script.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace pawl::sink {
namespace {

using simdjson::dom::element;

// Reads a member of the type that `into` has. A wrong type is told by `wrong`.
class Members {
 public:
  explicit Members(std::string& wrong) : wrong_(wrong) {}

  void read(element value, std::string_view key, int& into) {
    std::int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS || number < -1 || number > 1'000'000'000)
      wrong_ = std::string(key) + " has to be a number";
    else
      into = static_cast<int>(number);
  }
  void read(element value, std::string_view key, std::size_t& into) {
    int number = 0;
    read(value, key, number);
    into = static_cast<std::size_t>(std::max(number, 0));
  }
  void read(element value, std::string_view key, bool& into) {
    if (value.get(into) != simdjson::SUCCESS)
      wrong_ = std::string(key) + " has to be true or false";
  }
  void read(element value, std::string_view key, std::string& into) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) wrong_ = std::string(key) + " has to be a text";
    into = text;
  }
  template <typename T>
  void read(element value, std::string_view key, std::optional<T>& into) {
    read(value, key, into.emplace());
  }
  void read(element value, std::string_view key, Close& into) {
    std::string text;
    read(value, key, text);
    if (text == "before")
      into = Close::before;
    else if (text == "after_headers")
      into = Close::after_headers;
    else if (text == "mid_body")
      into = Close::mid_body;
    else
      wrong_ = "close is one of before, after_headers, mid_body";
  }
  void read(element value, std::string_view, std::vector<ItemFault>& into);

  void read_member(std::string_view key, element value, ItemFault& into);
  void read_member(std::string_view key, element value, Fault& into);

  template <typename T>
  void read_object(element value, T& into) {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) {
      wrong_ = "a fault has to be an object";
      return;
    }
    for (const auto& [key, member] : object) read_member(key, member, into);
  }

 private:
  std::string& wrong_;
};

void Members::read(element value, std::string_view, std::vector<ItemFault>& into) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) wrong_ = "items has to be a list";
  for (const auto one : list) {
    read_object(one, into.emplace_back());
    if (into.back().status < 300) wrong_ = "an item's status has to be 300 or more";
  }
}

void Members::read_member(std::string_view key, element value, ItemFault& into) {
  if (key == "match") return read(value, key, into.match);
  if (key == "status") return read(value, key, into.status);
  if (key == "type") return read(value, key, into.type);
  if (key == "reason") return read(value, key, into.reason);
  if (key == "times") return read(value, key, into.times);
  wrong_ = "an item has no '" + std::string(key) + "'";
}

void Members::read_member(std::string_view key, element value, Fault& into) {
  if (key == "times") return read(value, key, into.times);
  if (key == "if_body_over") return read(value, key, into.if_body_over);
  if (key == "if_contains") return read(value, key, into.if_contains);
  if (key == "delay_ms") return read(value, key, into.delay_ms);
  if (key == "status") return read(value, key, into.status);
  if (key == "apply") return read(value, key, into.apply);
  if (key == "type") return read(value, key, into.type);
  if (key == "reason") return read(value, key, into.reason);
  if (key == "body") return read(value, key, into.body);
  if (key == "retry_after") return read(value, key, into.retry_after_s);
  if (key == "close") return read(value, key, into.close);
  if (key == "short_items") return read(value, key, into.short_items);
  if (key == "garbage") return read(value, key, into.garbage);
  if (key == "truncate") return read(value, key, into.truncate);
  if (key == "items") return read(value, key, into.items);
  wrong_ = "a fault has no '" + std::string(key) + "'";
}

bool holds(const Fault& fault, std::string_view body) {
  return fault.times != 0 && (!fault.if_body_over || body.size() > *fault.if_body_over) &&
         body.find(fault.if_contains) != std::string_view::npos;
}

}  // namespace

Result<void> Script::replace(std::string_view json) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(json);
  simdjson::dom::array list;
  if (parser.parse(text).get(list) != simdjson::SUCCESS)
    return Error{ErrorCode::bad_input, "a script has to be a JSON list of faults"};
  std::string wrong;
  Members members(wrong);
  std::vector<std::shared_ptr<Fault>> faults;
  for (const auto one : list)
    members.read_object(one, *faults.emplace_back(std::make_shared<Fault>()));
  if (!wrong.empty()) return Error{ErrorCode::bad_input, wrong};
  const std::lock_guard lock(mutex_);
  faults_ = std::move(faults);
  return {};
}

std::shared_ptr<Fault> Script::next(std::string_view body) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(faults_.begin(), faults_.end(),
                                  [&](const auto& fault) { return holds(*fault, body); });
  if (found == faults_.end()) return std::make_shared<Fault>();
  auto fault = *found;
  if (fault->times > 0 && --fault->times == 0) faults_.erase(found);
  return fault;
}

std::optional<ItemFault> Script::against(Fault& fault, std::string_view action,
                                         std::string_view source) {
  if (fault.items.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (auto& item : fault.items) {
    if (item.times == 0 || (action.find(item.match) == std::string_view::npos &&
                            source.find(item.match) == std::string_view::npos))
      continue;
    if (item.times > 0) --item.times;
    return item;
  }
  return std::nullopt;
}

std::size_t Script::left() const {
  const std::lock_guard lock(mutex_);
  return faults_.size();
}

}  // namespace pawl::sink
