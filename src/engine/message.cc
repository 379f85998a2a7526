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
    if (spread.at) map.number("at", spread.at->time_since_epoch().count());
    if (spread.must) map.boolean("must", true);
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
  const auto number = [&](std::string_view name) {
    return std::stoll(std::string(map.member(name).json()));
  };
  Spread spread{.machine = word("machine"),
                .event = word("event"),
                .payload = std::string(map.member("payload").json()),
                .id = word("id"),
                .must = !map.member("must").absent(),
                .from = word("from"),
                .up_to = static_cast<std::uint64_t>(number("up_to"))};
  if (!map.member("at").absent()) spread.at = Instant{Duration{number("at")}};
  return spread;
}

}  // namespace pawl
