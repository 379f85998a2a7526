#include "pawl/decide.h"

#include "decide/turn.h"
#include "model/codec.h"

namespace pawl {

void decide(const Machine& machine, const Record& record, const Stimulus& stimulus, Instant now,
            Decision& into) {
  PAWL_ASSERT(&record != &into.record, "a decision does not overwrite what it is made from");
  Turn(machine, record, stimulus, now, into).decide();
}

Decision decide(const Machine& machine, const Record& record, const Stimulus& stimulus,
                Instant now) {
  Decision decision;
  decide(machine, record, stimulus, now, decision);
  return decision;
}

std::vector<std::string> permitted_events(const Machine& machine, const Record& record,
                                          const Actor& actor, Instant now) {
  Decision decision;
  const Stimulus nothing;
  return Turn(machine, record, nothing, now, decision).permitted(actor);
}

void foresee(const Machine& machine, Instant now, KnownRecord& known) {
  known.initial = machine.definition().initial.name;
  known.initial_final = machine.state(machine.definition().initial.id).final;
  const Stimulus create{.what = Stimulus::Create{.id = {1}, .data = known.data},
                        .machine = known.machine,
                        .key = known.key};
  const Decision created = decide(machine, {}, create, now);
  if (created.answer.kind == Answer::Kind::error) known.unfit = created.answer.reason;
  known.data.clear();
}

Answer check_ahead(const Machine& machine, const Record& record, const Stimulus& stimulus,
                   Instant now) {
  Decision decision;
  Turn(machine, record, stimulus, now, decision).check_ahead();
  return std::move(decision.answer);
}

std::uint64_t content_of(const Stimulus& stimulus) {
  Stimulus content;
  content.what = stimulus.what;
  if (auto* create = std::get_if<Stimulus::Create>(&content.what)) create->id = {};
  if (auto* fire = std::get_if<Stimulus::Fire>(&content.what); fire && fire->create)
    fire->create->id = {};
  std::string text;
  append_input(text, content, {});
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace pawl
