// RuleScript: machines, stimuli, and what was recorded after each of them.
//
//   # A comment.
//   title: 4.1 An empty row accepts and changes nothing
//   at: 2026-03-02T08:00:00Z      the first instant; this one when it is not said
//   tz: Europe/Berlin             of times without offset, and of those that are printed; UTC
//   file:
//     machine: m                  a machine file, two columns to the right; there may be several
//     …
//   file: machines/order.yaml     one of the repository
//   file: as above                those of the script before
//   file two:                     one that is there only after the step `apply: two`
//     …
//   play:
//     # A comment on the next step.
//     > create: {key: r}          a step: the members of a map
//       08:00:00 m/r create: ok   what came of it, recorded
//
// A step has the keys of a scenario's step, and these:
//   apply: two         another machine, or version
//   idempotency: k     the key of the call
//   dry_run: true
//   first: event       of `create`: fired in the same commit; `with` is its payload
//   or_create: {…}     of `fire`: the data of the record that is created when there is none
//   reason: text       of `order`
// `[1001 times 0]` stands for a list of that many items.
// It is about the record of the first `create` when it names no other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pawl {

struct ScriptStep {
  std::size_t line = 0;                    // from 1
  std::string text = {};                   // without `> `
  std::vector<std::string> recorded = {};  // without indent
  std::size_t recorded_begin = 0;          // the lines [begin, end) of the file, from 0
  std::size_t recorded_end = 0;
};

struct ScriptMachine {
  std::string name = {};  // empty: it is there from the beginning
  std::string text = {};
};

struct RuleScript {
  std::string file = {};
  std::size_t line = 0;  // of its title, from 1
  std::string title = {};
  std::string test_name = {};
  std::string at = "2026-03-02T08:00:00Z";
  std::string tz = {};
  std::vector<ScriptMachine> machines = {};
  std::vector<ScriptStep> steps = {};
  std::string problem = {};  // why it cannot be read
};

// The names of the files beside this one that hold scripts, sorted.
std::vector<std::string> script_files();

std::vector<RuleScript> read_scripts(const std::string& file);

// Writes the file again with other outputs: those of each script, each step. Whatever else stands
// in it stays.
void write_recorded(const std::string& file, const std::vector<RuleScript>& scripts,
                    const std::vector<std::vector<std::vector<std::string>>>& outputs);

}  // namespace pawl
