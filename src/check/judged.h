// Judged: what a mishap means for the question whether failures end.
#pragma once

#include <string>
#include <vector>

#include "check/distinctions.h"
#include "check/stage.h"

namespace pawl {

struct Judged {
  bool failed = false;     // work ended badly, also where that is no counted failure (`later`)
  int failures = 0;        // without `later`
  bool succeeded = false;  // by an error that counts as done

  // A delay without bound was waited for, or a slot of the plan: what the file asks for, again and
  // again, and everybody can see it.
  bool paced = false;

  bool waits_without_bound = false;  // for such a delay, from now on
  std::string pace = {};             // of one that begins to wait so, or of the plan: in words

  std::string failed_in = {};    // the state whose work it was
  std::string code = {};         // of the error
  std::vector<int> limits = {};  // of `elapsed` that were looked at
  Duration lasted = {};          // at most: an attempt lasts as long as it may
};

Judged judged(const Machine& machine, const Distinctions& distinctions, const Situation& before,
              const Mishap& mishap, const Happened& happened);

}  // namespace pawl
