// What tests say of JSON.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "model/expression/json_view.h"

namespace pawl {

// The value at a path such as `items.0.key`, as it is written; a text without its quotes.
inline std::string at(std::string_view json, std::string_view path) {
  JsonView value(json);
  Scratch scratch;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string step(path.substr(begin, end - begin));
    begin = end + 1;
    if (value.absent()) return "(absent)";
    if (value.kind() != JsonView::Kind::list) {
      value = value.member(step);
      continue;
    }
    JsonView found;
    JsonWalk walk(value);
    for (int i = std::stoi(step); i >= 0; --i) found = walk.next() ? walk.value() : JsonView();
    value = found;
  }
  if (value.absent()) return "(absent)";
  if (value.kind() == JsonView::Kind::text) return std::string(value.text(scratch));
  return std::string(value.json());
}

}  // namespace pawl
