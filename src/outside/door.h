// Door: the one way out for everything that Pawl sends by HTTP or SMTP on behalf of machine files
// and channels.
//
// A host has to be on the list of the administrator, and each of its addresses public or on the
// other list. The name is resolved once, and what was checked is what is connected to, so that a
// name that means another address a moment later reaches nothing. Redirects are not followed,
// proxies of the environment are not used, and of what comes back so much is kept as fits.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outside/address.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct DoorOptions {
  // `api.example.org`, `*.example.org` (all below it), each with `:PORT` where only that is meant.
  std::vector<std::string> hosts = {};
  std::vector<Network> networks = {};  // beside the public ones
  std::string certificates = {};       // a file (PEM) of authorities to trust; empty: the machine's
};

// Where something goes to, once it is allowed to.
struct Destination {
  std::string scheme;
  std::string host;
  std::string port;
  std::vector<Address> addresses;
};

struct OutgoingCall {
  std::string method = "POST";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::chrono::milliseconds at_most{300'000};
  std::function<bool()> may_go_on = {};  // asked about once a second; false ends the call
};

struct OutgoingReply {
  int status = 0;
  std::string body = {};
  bool is_cut = false;  // there was more of it
  std::optional<Duration> retry_after = {};
};

class Door {
 public:
  static constexpr std::size_t kBodyMax = 256U << 10U;

  explicit Door(DoorOptions options) : options_(std::move(options)) {}

  // Any reply is a reply; fails when there is none, with what to do about it. From any thread.
  Result<OutgoingReply> call(const OutgoingCall& call) const;

  // Looks a URL up: scheme (one of those with blanks between them), host, addresses. An error does
  // not repeat the URL.
  Result<Destination> destination(const std::string& url, std::string_view schemes) const;

  const DoorOptions& options() const { return options_; }
  // The door for one who was given this URL by the administrator: its host is allowed as well.
  Door also_to(const std::string& url) const;

 private:
  bool is_listed(const std::string& host, const std::string& port) const;

  DoorOptions options_;
};

}  // namespace pawl
