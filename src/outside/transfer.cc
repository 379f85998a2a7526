#include "outside/transfer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr long kConnectMs = 10'000;

std::string joined(const std::vector<Address>& addresses) {
  std::string text;
  for (const Address& address : addresses) {
    if (!text.empty()) text += ',';
    text += address.is_v4() ? to_text(address) : "[" + to_text(address) + "]";
  }
  return text;
}

}  // namespace

void begin_transfers() {
  static const CURLcode kBegun = curl_global_init(CURL_GLOBAL_DEFAULT);
  PAWL_ASSERT(kBegun == CURLE_OK, "libcurl can be used");
}

void Lines::replace(std::string_view name, std::string line) {
  const auto there = std::find_if(lines_.begin(), lines_.end(), [&](const std::string& known) {
    return to_lower(known.substr(0, known.find_first_of(":;"))) == to_lower(name);
  });
  if (there == lines_.end()) return add(std::move(line));
  *there = std::move(line);
}

curl_slist* Lines::list() {
  list_.reset();
  for (const std::string& line : lines_) {
    curl_slist* const longer = curl_slist_append(list_.get(), line.c_str());
    PAWL_ASSERT(longer != nullptr, "there is memory for a line");
    static_cast<void>(list_.release());
    list_.reset(longer);
  }
  return list_.get();
}

Transfer::Transfer(const Destination& to, Limits limits) : to_(to), limits_(std::move(limits)) {
  begin_transfers();
  curl_.reset(curl_easy_init());
  PAWL_ASSERT(curl_ != nullptr, "there is memory for a transfer");
  CURL* const curl = curl_.get();
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, to_.scheme.c_str());
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "pawl");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(limits_.at_most.count()));
  if (!limits_.certificates.empty())
    curl_easy_setopt(curl, CURLOPT_CAINFO, limits_.certificates.c_str());
  if (!to_.host.starts_with('[')) {  // what was checked is what is connected to
    resolved_.add(to_.host + ":" + to_.port + ":" + joined(to_.addresses));
    curl_easy_setopt(curl, CURLOPT_RESOLVE, resolved_.list());
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, go_on);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

// What is over the limit is not waited for.
std::size_t Transfer::receive(char* bytes, std::size_t size, std::size_t count, void* of) {
  Transfer& self = *static_cast<Transfer*>(of);
  const std::size_t given = size * count;
  const std::size_t room = self.limits_.body_max - self.body_.size();
  self.body_.append(bytes, std::min(given, room));
  if (given <= room) return given;
  self.is_cut_ = true;
  return 0;
}

int Transfer::go_on(void* of, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  Transfer& self = *static_cast<Transfer*>(of);
  self.is_stopped_ = self.limits_.may_go_on && !self.limits_.may_go_on();
  return self.is_stopped_ ? 1 : 0;
}

Result<void> Transfer::run() {
  std::array<char, CURL_ERROR_SIZE> why{};
  curl_easy_setopt(curl_.get(), CURLOPT_ERRORBUFFER, why.data());
  const CURLcode code = curl_easy_perform(curl_.get());
  curl_easy_setopt(curl_.get(), CURLOPT_ERRORBUFFER, nullptr);
  if (code == CURLE_OK || is_cut_) return {};
  const std::string host = to_.host + ":" + to_.port;
  if (is_stopped_) return Error{ErrorCode::environment, "the call to " + host + " was cancelled"};
  return Error{ErrorCode::environment,
               host + ": " + (why[0] != '\0' ? why.data() : curl_easy_strerror(code))};
}

}  // namespace pawl
