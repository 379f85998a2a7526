// Names of things that have one.
#pragma once

#include <string>
#include <vector>

namespace pawl {

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
  std::vector<std::string> names;
  for (const Named& named : all) names.push_back(named.name);
  return names;
}

}  // namespace pawl
