// Listening: where verbs that serve wait for their callers, on which terms, and what they say of
// it.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "cli/listen_address.h"
#include "cli/serve_log.h"
#include "pawl/result.h"
#include "server/server.h"

namespace pawl::cli {

struct Listening {
  ListenAddress address = {};
  std::string tls_certificate = {};
  std::string tls_key = {};
  bool is_insecure = false;  // beyond loopback without TLS
};

// Into the options of a server, with a line of the log for whoever is not let in; and as many open
// files as its connections need, where the system lets it. Fails when tokens would cross a network
// in the clear.
Result<void> listen_at(const Listening& listening, ServeLog& log, ServerOptions& server);

// `pawl serves … at http://…`, and the first token, if there is one: it is not known again.
void say_where(const Server& server, const ListenAddress& address, const std::string& what,
               const std::optional<std::string>& token, std::ostream& out);

}  // namespace pawl::cli
