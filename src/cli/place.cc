#include "cli/place.h"

#include <curl/curl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/machine_files.h"
#include "model/reader.h"
#include "model/tree.h"
#include "outside/secret.h"

namespace pawl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualProfile = "default";

// A server that somebody gave a name.
struct Profile {
  std::string url;
  std::string token;
  std::string token_file;  // relative to the file of profiles
  std::string token_env;
  std::string certificates;
  bool insecure = false;
};
using Profiles = std::map<std::string, Profile>;

template <std::string Profile::*member>
void read_text(Reader& reader, const Node& node, Profile& profile) {
  reader.text(node, "a text", profile.*member);
}

const Keys<Profile>& profile_keys() {
  static const Keys<Profile> keys{
      "profile",
      "a profile",
      {{{"url", Shape::text, "https://host:port", {}, true}, read_text<&Profile::url>},
       {{"token", Shape::text, "the access token"}, read_text<&Profile::token>},
       {{"token_file", Shape::text, "file that contains the access token"},
        read_text<&Profile::token_file>},
       {{"token_env", Shape::text, "environment variable that contains the access token"},
        read_text<&Profile::token_env>},
       {{"ca", Shape::text, "file of CA certificates to trust"}, read_text<&Profile::certificates>},
       {{"insecure", Shape::boolean, "the token may cross the network unencrypted"},
        [](Reader& r, const Node& n, Profile& p) { r.boolean(n, p.insecure); }}},
      {"token", "token_file", "token_env"}};
  return keys;
}

Result<Profiles> parse_profiles(const std::string& path, const std::string& text) {
  Profiles profiles;
  Diagnostics diagnostics;
  if (const auto tree = read_tree(text, diagnostics)) {
    Reader reader(diagnostics);
    reader.members(*tree, "profiles", [&](const Member& member) {
      reader.keys(member.value, profile_keys(), profiles[member.key]);
    });
  }
  if (!diagnostics.has_errors()) return profiles;
  const Diagnostic first = diagnostics.sorted().front();
  return Error{ErrorCode::bad_input, path + ":" + std::to_string(first.position.line) + ":" +
                                         std::to_string(first.position.column) + ": " +
                                         first.message};
}

// Who can read a token can use it.
Result<void> check_private(const std::string& path, const Profiles& profiles) {
  const bool has_token = std::any_of(profiles.begin(), profiles.end(), [](const auto& profile) {
    return !profile.second.token.empty();
  });
  struct stat file {};
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if (!has_token || stat(path.c_str(), &file) != 0 || (file.st_mode & kOthers) == 0) return {};
  return Error{
      ErrorCode::bad_input,
      path + " contains an access token and is open to other users: run chmod 600 " + path};
}

std::string variable(const Environment& environment, const char* name) {
  const char* const value = environment ? environment(name) : nullptr;
  return value != nullptr ? value : "";
}

// A script whose variable is empty must not reach another place than it means.
Result<std::string> read_variable(const Environment& environment, const char* name) {
  const char* const value = environment ? environment(name) : nullptr;
  if (value == nullptr) return std::string();
  if (*value == '\0')
    return Error{ErrorCode::bad_input,
                 std::string(name) + " is empty: give it a value or unset it"};
  return std::string(value);
}

std::string profiles_path(const Environment& environment) {
  const std::string config = variable(environment, "XDG_CONFIG_HOME");
  const std::string home = variable(environment, "HOME");
  if (config.empty() && home.empty()) return {};
  return (config.empty() ? fs::path(home) / ".config" : fs::path(config)) / "pawl/profiles.yaml";
}

// None when there is no such file.
Result<std::optional<Profiles>> read_profiles(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored)) return std::optional<Profiles>();
  PAWL_TRY(const std::string text, read_text_file(path));
  PAWL_TRY(Profiles profiles, parse_profiles(path, text));
  PAWL_CHECK(check_private(path, profiles));
  return std::optional(std::move(profiles));
}

// None when it is the usual one, which nobody has to have.
Result<std::optional<Profile>> find_profile(const std::string& name,
                                            const Environment& environment) {
  const std::string path = profiles_path(environment);
  PAWL_TRY(const auto profiles, read_profiles(path));
  const std::string wanted = name.empty() ? kUsualProfile : name;
  if (profiles && profiles->contains(wanted)) return std::optional(profiles->at(wanted));
  if (name.empty()) return std::optional<Profile>();
  if (!profiles)
    return Error{ErrorCode::bad_input, "there is no profile " + in_ticks(name) + ": add it to " +
                                           (path.empty() ? "~/.config/pawl/profiles.yaml" : path)};
  std::vector<std::string> names;
  for (const auto& [known, profile] : *profiles) names.push_back(known);
  return Error{ErrorCode::bad_input,
               path + " has no profile " + in_ticks(name) + did_you_mean(name, names)};
}

Result<std::string> token_of(const Profile& profile, const Environment& environment) {
  if (!profile.token_env.empty()) {
    const std::string token = variable(environment, profile.token_env.c_str());
    if (!token.empty()) return token;
    return Error{ErrorCode::bad_input, "the environment variable " + in_ticks(profile.token_env) +
                                           ", which should contain the access token, is not set"};
  }
  if (profile.token_file.empty()) return profile.token;
  const fs::path beside = fs::path(profiles_path(environment)).parent_path();
  PAWL_TRY(const Secret secret, Secret::parse("file:" + (beside / profile.token_file).string()));
  return secret.read();
}

// --- addresses ---------------------------------------------------------------------------------

struct UrlFree {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

// Not repeated where it may hold a password.
Result<void> check_url(const std::string& text, bool insecure) {
  const std::unique_ptr<CURLU, UrlFree> url(curl_url());
  const bool is_read = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  if (is_read &&
      !(part_of(url.get(), CURLUPART_USER) + part_of(url.get(), CURLUPART_PASSWORD)).empty())
    return Error{ErrorCode::bad_input,
                 "the URL of a server must not contain a user or password: use an access token"};
  const std::string scheme = is_read ? part_of(url.get(), CURLUPART_SCHEME) : "";
  if ((scheme != "http" && scheme != "https") || text.find_first_of("?#") != std::string::npos)
    return Error{ErrorCode::bad_input,
                 in_quotes(text) +
                     " is not the URL of a server; write http://127.0.0.1:7295 or "
                     "https://HOST"};
  const std::string host = part_of(url.get(), CURLUPART_HOST);
  if (scheme == "https" || insecure || is_loopback(host)) return {};
  return Error{
      ErrorCode::bad_input,
      "the access token would be sent to " + host +
          " unencrypted: use https://, or give --insecure if something else encrypts the traffic"};
}

// It becomes a line of a header.
Result<void> check_token(const std::string& token, const std::string& url) {
  if (token.empty())
    return Error{ErrorCode::bad_input,
                 "no access token for " + url + ": set PAWL_TOKEN, or add it to a profile"};
  const bool is_plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (is_plain) return {};
  return Error{ErrorCode::bad_input,
               "the access token for " + url + " contains invalid characters"};
}

Result<ServerPlace> checked(ServerPlace place, bool insecure) {
  PAWL_CHECK(check_url(place.url, insecure));
  while (place.url.ends_with('/')) place.url.pop_back();
  PAWL_CHECK(check_token(place.token, place.url));
  return place;
}

}  // namespace

Result<std::optional<ServerPlace>> choose_server(const GivenPlace& given,
                                                 const Environment& environment) {
  if (!given.directory.empty()) {
    if ((given.url + given.token + given.profile).empty()) return std::optional<ServerPlace>();
    return Error{ErrorCode::bad_input,
                 "--dir names a local directory; --url, --token and --profile name a server: "
                 "give one or the other"};
  }
  PAWL_TRY(const std::string url_there, read_variable(environment, "PAWL_URL"));
  PAWL_TRY(const std::string profile_there, read_variable(environment, "PAWL_PROFILE"));
  PAWL_TRY(const std::string token_there, read_variable(environment, "PAWL_TOKEN"));
  PAWL_TRY(const std::string certificates_there, read_variable(environment, "PAWL_CA"));
  Profile chosen;
  if (!given.url.empty()) {
    chosen.url = given.url;
  } else if (given.profile.empty() && !url_there.empty()) {
    chosen.url = url_there;
  } else {
    PAWL_TRY(const auto profile,
             find_profile(given.profile.empty() ? profile_there : given.profile, environment));
    if (!profile && !given.token.empty())
      return Error{ErrorCode::bad_input, "--token is for a server: name it with --url or PAWL_URL"};
    if (!profile) return std::optional<ServerPlace>();
    chosen = *profile;
  }
  PAWL_TRY(std::string token,
           given.token.empty() ? token_of(chosen, environment) : Result<std::string>(given.token));
  if (token.empty()) token = token_there;
  std::string certificates = given.certificates;
  if (certificates.empty()) certificates = chosen.certificates;
  if (certificates.empty()) certificates = certificates_there;
  PAWL_TRY(ServerPlace place, checked({chosen.url, std::move(token), std::move(certificates)},
                                      given.insecure || chosen.insecure));
  return std::optional(std::move(place));
}

}  // namespace pawl::cli
