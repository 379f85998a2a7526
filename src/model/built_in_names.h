// The machines of Pawl itself: records of them carry out what other records ask for.
#pragma once

#include <string_view>

namespace pawl {

inline constexpr std::string_view kRunMachine = "run";
inline constexpr std::string_view kSendMachine = "send";
inline constexpr std::string_view kDeliveryMachine = "delivery";

inline bool is_built_in(std::string_view machine) {
  return machine == kRunMachine || machine == kSendMachine || machine == kDeliveryMachine;
}

}  // namespace pawl
