#include "cli/listening.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <vector>

namespace pawl::cli {
namespace {

constexpr std::size_t kLoggedPathMax = 200;  // bytes

// As many open files as the connections that are taken need, where the system lets it.
void raise_open_files(std::size_t connections_max) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = connections_max + 200;  // those of the store, and of what it calls
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(wanted, limit.rlim_max));
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Result<void> listen_at(const Listening& listening, ServeLog& log, ServerOptions& server) {
  server.http.address = listening.address.address;
  server.http.port = listening.address.port;
  if (listening.tls_certificate.empty() != listening.tls_key.empty())
    return Error{ErrorCode::bad_input, "give both --tls-certificate and --tls-key, or neither"};
  server.http.certificate = listening.tls_certificate;
  server.http.private_key = listening.tls_key;
  if (!listening.address.is_loopback() && listening.tls_certificate.empty() &&
      !listening.is_insecure)
    return Error{ErrorCode::bad_input,
                 "access tokens would cross the network unencrypted: give --tls-certificate and "
                 "--tls-key, or --insecure-listen if something else encrypts the traffic"};
  server.on_denied = [&log](const ServerOptions::Denial& denial) {
    std::vector<ServeLog::Field> fields{{"method", denial.method},
                                        {"path", denial.path.substr(0, kLoggedPathMax)},
                                        {"error", denial.id}};
    if (!denial.actor.empty()) fields.push_back({"actor", denial.actor});
    log.write(ServeLog::Level::warn, clock_now(), "denied", fields);
  };
  raise_open_files(server.http.connections_max);
  return {};
}

void say_where(const Server& server, const ListenAddress& address, const std::string& what,
               const std::optional<std::string>& token, std::ostream& out) {
  out << "pawl serves " << what << " at " << (server.has_tls() ? "https://" : "http://")
      << address.host() << ':' << server.port() << '\n';
  if (token) out << "access token (role admin, shown only once): " << *token << '\n';
  out << std::flush;
}

}  // namespace pawl::cli
