// Apply: machine files become versions that records move by, and what that means for live records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/diagnostic.h"
#include "pawl/time.h"

namespace pawl {

struct MachineText {
  std::string path;  // for messages
  std::string text;
};

struct ApplyOptions {
  std::string by = "embedder";  // who applies them
  bool dry_run = false;         // says what would change
  // Channels that are not this engine's are a warning: another process carries deliveries out.
  bool channels_elsewhere = false;
};

struct MachineVersion {
  std::string name;
  int version = 1;
  Instant applied_at = {};  // with nobody: before this was kept
  std::string applied_by = {};

  friend bool operator==(const MachineVersion&, const MachineVersion&) = default;
};

// Live records in one state, and what becomes of them at their next stimulus.
struct Touched {
  enum class Fate {
    follows,   // goes on in the same state by the new version
    moves,     // the same, in another state
    stays,     // on its version: the new one has no place for it, and no `migrate` line
    pinned,    // on its version, by `pin`
    stranded,  // a `migrate` line of its version leaves it without a state: nothing is applied
  };

  int version = 0;  // that they are of; 0: whichever
  std::string state;
  std::int64_t records = 0;
  Fate fate = Fate::follows;
  std::string to = {};  // of `follows` and `moves`
};
std::string_view to_text(Touched::Fate fate);

struct AppliedMachine {
  std::string path;
  std::string text;
  std::vector<Diagnostic> findings = {};  // errors: nothing of all files was applied
  std::string machine = {};               // empty when the file could not be read
  int version = 0;                        // that it has now
  int version_before = 0;                 // the newest one before; 0: there was none
  bool is_new = false;                    // false: it is the newest version already
  std::vector<Touched> touched = {};
};

struct Applied {
  std::vector<AppliedMachine> machines;  // one a file, in their order
  bool is_good() const;                  // no file has an error
};

}  // namespace pawl
