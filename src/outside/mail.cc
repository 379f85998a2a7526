#include <curl/curl.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "outside/channels.h"
#include "outside/transfer.h"

namespace pawl {
namespace {

constexpr std::size_t kBytesPerLine = 57;  // that are 76 characters in base64

std::string base64_lines(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += kBytesPerLine) {
    const std::string_view piece = bytes.substr(at, kBytesPerLine);
    char line[80];
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(line),
                                     reinterpret_cast<const unsigned char*>(piece.data()),
                                     static_cast<int>(piece.size()));
    text.append(line, static_cast<std::size_t>(size)).append("\r\n");
  }
  return text;
}

// As an encoded word (RFC 2047), whatever it holds: one line, with no header after it. A piece ends
// between characters.
std::string subject_of(std::string_view text) {
  constexpr std::size_t kPiece = 42;
  std::string words;
  while (!text.empty()) {
    std::size_t size = std::min(text.size(), kPiece);
    while (size > 1 && size < text.size() &&
           (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80)
      --size;
    std::string word = base64_lines(text.substr(0, size));
    word.resize(word.size() - 2);
    words += (words.empty() ? "=?UTF-8?B?" : "\r\n =?UTF-8?B?") + word + "?=";
    text.remove_prefix(size);
  }
  return words;
}

// An id as it may stand in a header.
std::string message_id(const std::string& id) {
  std::string safe;
  for (const char c : id) safe += is_letter(c) || is_digit(c) || c == '.' || c == '-' ? c : '_';
  return safe;
}

std::string date_now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02d %s %d %02d:%02d:%02d +0000", kDays[utc.tm_wday],
                utc.tm_mday, kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
                utc.tm_sec);
  return text;
}

std::string mail_text(const MailSettings& settings, const Delivered& delivered) {
  const std::string summary = delivery_summary(delivered);
  std::string text = "Date: " + date_now() + "\r\nFrom: " + settings.from + "\r\nTo: ";
  for (const std::string& to : settings.to) text += (&to == &settings.to.front() ? "" : ", ") + to;
  text += "\r\nSubject: " + subject_of(summary) + "\r\nMessage-ID: <" + message_id(delivered.id) +
          "@pawl>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
          "Content-Transfer-Encoding: base64\r\n\r\n";
  return text + base64_lines(summary + "\n\n" + delivery_json(delivered) + "\n");
}

struct Sending {
  std::string_view left;

  static std::size_t take(char* to, std::size_t size, std::size_t count, void* of) {
    Sending& self = *static_cast<Sending*>(of);
    const std::size_t taken = std::min(size * count, self.left.size());
    std::memcpy(to, self.left.data(), taken);
    self.left.remove_prefix(taken);
    return taken;
  }
};

Result<void> send(const Door& door, const MailSettings& settings, const Delivered& delivered) {
  PAWL_TRY(const Destination to, door.destination(settings.url, "smtp smtps"));
  Transfer transfer(
      to, {door.options().certificates, kChannelTimeout, delivered.may_go_on, Door::kBodyMax});
  CURL* const curl = transfer.handle();
  curl_easy_setopt(curl, CURLOPT_URL, settings.url.c_str());
  const bool may_be_clear = settings.without_tls || to.scheme == "smtps";
  curl_easy_setopt(curl, CURLOPT_USE_SSL,
                   static_cast<long>(may_be_clear ? CURLUSESSL_NONE : CURLUSESSL_ALL));
  curl_easy_setopt(curl, CURLOPT_MAIL_FROM, settings.from.c_str());
  Lines recipients;
  for (const std::string& one : settings.to) recipients.add(one);
  curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients.list());
  if (settings.password) {
    PAWL_TRY(const std::string password, settings.password->read());
    curl_easy_setopt(curl, CURLOPT_USERNAME, settings.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, password.c_str());  // copied
  }
  const std::string text = mail_text(settings, delivered);
  Sending sending{text};
  curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, Sending::take);
  curl_easy_setopt(curl, CURLOPT_READDATA, &sending);
  return transfer.run();
}

}  // namespace

Channel mail_channel(Door door, MailSettings settings) {
  return [door = door.also_to(settings.url),
          settings = std::move(settings)](const Delivered& delivered) -> std::optional<Failure> {
    const auto sent = send(door, settings, delivered);
    if (sent) return std::nullopt;
    return Failure{.code = "network", .message = sent.error().message};
  };
}

}  // namespace pawl
