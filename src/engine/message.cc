#include "engine/message.h"

#include "decide/json_edit.h"
#include "model/codec.h"
#include "model/expression/json_view.h"

namespace pawl {

std::string message_text(const Stimulus& stimulus) {
  std::string text;
  append_input(text, stimulus, {});
  return text;
}

std::string message_text(const Spread& spread) {
  std::string text;
  {
    JsonMap outer(text);
    JsonMap map(outer.member("spread"));
    map.text("machine", spread.machine);
    map.text("event", spread.event);
    map.json("payload", spread.payload);
    map.text("id", spread.id);
    map.text("from", spread.from);
    map.number("up_to", static_cast<std::int64_t>(spread.up_to));
  }
  return text;
}

std::variant<Stimulus, Spread> read_message(std::string_view text) {
  const JsonView map = JsonView(text).member("spread");
  if (map.absent()) return read_input(text).stimulus;
  Scratch scratch;
  const auto word = [&](std::string_view name) {
    return std::string(map.member(name).text(scratch));
  };
  return Spread{.machine = word("machine"),
                .event = word("event"),
                .payload = std::string(map.member("payload").json()),
                .id = word("id"),
                .from = word("from"),
                .up_to = std::stoull(std::string(map.member("up_to").json()))};
}

}  // namespace pawl
