// Place: where the records are that a verb is about. A directory, or a server and what lets one in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::cli {

using Environment = std::function<const char*(const char*)>;

// What options say of it; what is empty was not said.
struct GivenPlace {
  std::string directory = {};
  std::string url = {};
  std::string token = {};
  std::string profile = {};
  std::string certificates = {};  // a file of authorities to trust, instead of the machine's
  bool insecure = false;          // the token may cross the network in the clear

  std::string directory_or_usual() const { return directory.empty() ? "pawl-data" : directory; }
};

struct ServerPlace {
  std::string url;  // without a slash at its end
  std::string token;
  std::string certificates = {};
};

// Options go before PAWL_URL, PAWL_PROFILE, PAWL_TOKEN and PAWL_CA, these before the profile
// `default`; none when it is the directory. No error holds a token.
Result<std::optional<ServerPlace>> choose_server(const GivenPlace& given,
                                                 const Environment& environment);

}  // namespace pawl::cli
