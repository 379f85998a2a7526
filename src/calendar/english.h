// Rules in English, for people who want to know what they have written.
#pragma once

#include <string>

#include "calendar/cron.h"
#include "calendar/rrule.h"
#include "calendar/wall_rule.h"
#include "calendar/zone.h"

namespace pawl {

// `Every month on the last Friday at 09:00`. What the rule leaves open is filled in from the start.
std::string in_english(const Rrule& given, Start start);

// `Monday to Friday at 09:00`.
std::string in_english(const Cron& cron);

// What happens to local times that do not exist or exist twice.
std::string in_english(Gap gap, Fold fold);

}  // namespace pawl
