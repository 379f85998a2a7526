#include <utility>

#include "base/text.h"
#include "decide/json_edit.h"
#include "outside/channels.h"
#include "outside/http_task.h"

namespace pawl {
namespace {

using Service = AlertSettings::Service;

constexpr std::size_t kOpsgenieMessageMax = 130;
constexpr std::size_t kPagerDutySummaryMax = 1'024;

std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80) --most;
  text.resize(most);
  return text;
}

void write_body(JsonMap& map, Service service, const Delivered& delivered, const std::string& key) {
  const std::string summary = delivery_summary(delivered);
  switch (service) {
    case Service::slack:
      map.text("text", summary);
      break;
    case Service::opsgenie:
      map.text("message", cut(summary, kOpsgenieMessageMax));
      map.text("alias", delivered.id);
      map.text("source", "pawl");
      map.text("description", delivered.payload);
      break;
    case Service::pagerduty: {
      map.text("routing_key", key);
      map.text("event_action", "trigger");
      map.text("dedup_key", delivered.id);
      JsonMap payload(map.member("payload"));
      payload.text("summary", cut(summary, kPagerDutySummaryMax));
      payload.text("source", "pawl");
      payload.text("severity", "error");
      payload.json("custom_details", delivered.payload);
    }
  }
}

}  // namespace

std::string_view usual_url(Service service) {
  switch (service) {
    case Service::opsgenie:
      return "https://api.opsgenie.com/v2/alerts";
    case Service::pagerduty:
      return "https://events.pagerduty.com/v2/enqueue";
    case Service::slack:
      break;
  }
  return "";
}

Channel alert_channel(Door door, AlertSettings settings) {
  return [door = std::move(door),
          settings = std::move(settings)](const Delivered& delivered) -> std::optional<Failure> {
    const auto prepared = [&]() -> Result<OutgoingCall> {
      OutgoingCall call{.at_most = kChannelTimeout, .may_go_on = delivered.may_go_on};
      PAWL_TRY(call.url, settings.target.read());
      std::string key;
      if (settings.key) {
        PAWL_TRY(key, settings.key->read());
      }
      if (settings.service == Service::opsgenie)
        call.headers.emplace_back("Authorization", "GenieKey " + key);
      {
        JsonMap map(call.body);
        write_body(map, settings.service, delivered, key);
      }
      return call;
    }();
    if (!prepared) return Failure{.code = "bad_channel", .message = prepared.error().message};
    return failure_of(door.also_to(prepared->url).call(*prepared));
  };
}

}  // namespace pawl
