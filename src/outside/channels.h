// Channels to the outside: whom deliveries reach. What is delivered is one JSON map,
// {"id", "channel", "payload"}; the id is the same however often it is tried, so that whoever gets
// it twice can tell.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "outside/door.h"
#include "outside/secret.h"
#include "pawl/task.h"

namespace pawl {

// A URL may be a secret itself.
struct Target {
  std::string url = {};
  std::optional<Secret> secret_url = {};

  Result<std::string> read() const;
};

inline constexpr std::chrono::milliseconds kChannelTimeout{30'000};

// POST of the map. With a key it is signed as Standard Webhooks says: `webhook-signature` is
// `v1,` and the HMAC-SHA256 over ID.TIMESTAMP.BODY in base64; of a key that begins with `whsec_`
// the rest is base64.
struct WebhookSettings {
  Target target;
  std::optional<Secret> key = {};
};
Channel webhook_channel(Door door, WebhookSettings settings);

// An alert in the words of a service.
struct AlertSettings {
  enum class Service { opsgenie, pagerduty, slack };

  Service service = Service::slack;
  Target target;                   // empty: that of the service; Slack has none
  std::optional<Secret> key = {};  // of Opsgenie and PagerDuty
};
Channel alert_channel(Door door, AlertSettings settings);
std::string_view usual_url(AlertSettings::Service service);

// A mail, by SMTP with TLS.
struct MailSettings {
  std::string url;  // smtp://host:587 (STARTTLS) or smtps://host
  std::string from;
  std::vector<std::string> to;
  std::string user = {};
  std::optional<Secret> password = {};
  bool without_tls = false;
};
Channel mail_channel(Door door, MailSettings settings);

// A program: the map on its standard input, and exit code 0 is delivered.
struct ExecSettings {
  std::vector<std::string> arguments;  // the first is the program; no shell looks at them
  std::chrono::milliseconds timeout = kChannelTimeout;
};
Channel exec_channel(ExecSettings settings);

// The map that is delivered, and a line for people.
std::string delivery_json(const Delivered& delivered);
std::string delivery_summary(const Delivered& delivered);

}  // namespace pawl
