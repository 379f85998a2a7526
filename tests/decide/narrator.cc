#include "narrator.h"

#include <cstdio>
#include <string>

#include "model/codec.h"
#include "pawl/machine_file.h"

namespace pawl {
namespace {

void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

std::string text_of(const std::optional<Instant>& at) { return at ? to_text(*at) : "-"; }

// The stimulus without the quiet part that stands behind it in an input.
std::string text_of(const Stimulus& stimulus) {
  std::string text;
  append_input(text, stimulus, {});
  return text.substr(0, text.rfind(",\"quiet\""));
}

void tell(const Decided& step) {
  const Decision& decision = step.decision;
  const Record& record = decision.record;
  print(to_text(step.now) + " " + text_of(step.stimulus));
  print("  " + std::string(to_text(decision.answer.kind)) + " " + decision.answer.reason +
        (decision.changed ? "" : " (unchanged)"));
  for (const Entry& entry : decision.entries)
    print("  #" + std::to_string(entry.seq) + " " + std::string(to_text(entry.kind)) + " " +
          entry.event + ": " + entry.from + " -> " + entry.to + " " + entry.cause + " " +
          entry.row + " next_at " + text_of(entry.next_at) + " " + entry.changes);
  for (const Effect& effect : decision.effects)
    print("  effect " + effect.target + " " + effect.id + " " + effect.payload +
          (effect.found ? " found" : ""));
  if (decision.changed)
    print("  " + record.state + " ready " + text_of(record.ready_at) + " wake " +
          text_of(record.wake_at) + " failures " + std::to_string(record.failures) + " attempt " +
          std::to_string(record.attempt) + (record.spent ? " spent" : "") +
          (record.running ? " running until " + to_text(record.running->deadline_at) : "") +
          (record.hold ? " hold " + record.hold->code : "") + " checkpoint " +
          record.streak.checkpoint);
}

}  // namespace

Watcher narrator() {
  return {.machine = [](const Definition& definition) { print(print_machine(definition)); },
          .step = tell};
}

}  // namespace pawl
