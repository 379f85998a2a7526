#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "decide/json_edit.h"
#include "model/expression/json_view.h"
#include "outside/channels.h"
#include "outside/http_task.h"

namespace pawl {
namespace {

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

Result<std::string> key_bytes(const std::string& key) {
  constexpr std::string_view kPrefix = "whsec_";
  if (!key.starts_with(kPrefix)) return key;
  const std::string text = key.substr(kPrefix.size());
  std::string bytes(text.size() / 4 * 3 + 1, '\0');
  const int size = text.size() % 4 == 0
                       ? EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                         reinterpret_cast<const unsigned char*>(text.data()),
                                         static_cast<int>(text.size()))
                       : -1;
  if (size < 0)
    return Error{ErrorCode::environment, "the key of the webhook is not base64 after whsec_"};
  const auto padding = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

std::string signature(const std::string& key, const std::string& content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(content.data()), content.size(), sum.data(), &size);
  return "v1," + base64({reinterpret_cast<const char*>(sum.data()), size});
}

}  // namespace

std::string delivery_json(const Delivered& delivered) {
  std::string json;
  {
    JsonMap map(json);
    map.text("id", delivered.id);
    map.text("channel", delivered.channel);
    map.json("payload", delivered.payload);
  }
  return json;
}

std::string delivery_summary(const Delivered& delivered) {
  const JsonView payload(delivered.payload);
  const auto said = [&](JsonView value) {
    Scratch scratch;
    return value.absent() ? std::string() : printable(value.text(scratch));
  };
  const std::string machine = said(payload.member("machine"));
  if (machine.empty()) return delivered.channel + ": " + delivered.id;
  std::string line = machine + "/" + said(payload.member("key"));
  if (const std::string state = said(payload.member("state")); !state.empty()) line += ", " + state;
  const std::string error = said(payload.member("error").member("message"));
  const std::string code = said(payload.member("error").member("code"));
  if (!code.empty()) line += ": " + code;
  if (!error.empty()) line += " (" + error + ")";
  return line;
}

Result<std::string> Target::read() const {
  if (secret_url) return secret_url->read();
  return url;
}

Channel webhook_channel(Door door, WebhookSettings settings) {
  return [door = std::move(door),
          settings = std::move(settings)](const Delivered& delivered) -> std::optional<Failure> {
    const auto prepared = [&]() -> Result<OutgoingCall> {
      OutgoingCall call{.body = delivery_json(delivered),
                        .at_most = kChannelTimeout,
                        .may_go_on = delivered.may_go_on};
      PAWL_TRY(call.url, settings.target.read());
      const std::string now = std::to_string(std::time(nullptr));
      call.headers = {{"webhook-id", delivered.id}, {"webhook-timestamp", now}};
      if (!settings.key) return call;
      PAWL_TRY(const std::string secret, settings.key->read());
      PAWL_TRY(const std::string key, key_bytes(secret));
      call.headers.emplace_back("webhook-signature",
                                signature(key, delivered.id + "." + now + "." + call.body));
      return call;
    }();
    if (!prepared) return Failure{.code = "bad_channel", .message = prepared.error().message};
    return failure_of(door.also_to(prepared->url).call(*prepared));
  };
}

}  // namespace pawl
