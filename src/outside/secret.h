// Secret: where a password or a key is to be found. It is read when it is used, and never kept.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

class Secret {
 public:
  // `env:NAME` or `file:PATH`. Anything else is an error that does not repeat it: it may be the
  // secret itself.
  static Result<Secret> parse(std::string_view reference);

  // Without the line break at the end of a file.
  Result<std::string> read() const;

  // The environment variable that it is in; empty when it is in a file.
  std::string_view variable() const {
    return kind_ == Kind::environment ? std::string_view(name_) : std::string_view();
  }

 private:
  enum class Kind { environment, file };

  Kind kind_ = Kind::environment;
  std::string name_;
};

}  // namespace pawl
