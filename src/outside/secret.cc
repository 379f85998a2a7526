#include "outside/secret.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/text.h"

namespace pawl {

Result<Secret> Secret::parse(std::string_view reference) {
  Secret secret;
  for (const auto& [prefix, kind] :
       {std::pair<std::string_view, Kind>{"env:", Kind::environment}, {"file:", Kind::file}})
    if (reference.starts_with(prefix) && reference.size() > prefix.size()) {
      secret.kind_ = kind;
      secret.name_ = reference.substr(prefix.size());
      return secret;
    }
  return Error{ErrorCode::bad_input,
               "do not write a secret here: say where it is, as env:NAME or file:PATH"};
}

Result<std::string> Secret::read() const {
  if (kind_ == Kind::environment) {
    const char* const value = std::getenv(name_.c_str());
    if (value != nullptr && *value != '\0') return std::string(value);
    return Error{ErrorCode::environment, "the environment variable " + in_ticks(name_) +
                                             ", which holds a secret, is not set"};
  }
  std::ifstream file(name_, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  text.erase(text.find_last_not_of("\r\n") + 1);
  if (!text.empty()) return text;
  return Error{ErrorCode::environment, "the file " + in_ticks(name_) +
                                           ", which holds a secret, cannot be read or is empty"};
}

}  // namespace pawl
