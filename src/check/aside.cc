#include "check/aside.h"

#include <algorithm>
#include <string>
#include <utility>

#include "check/codes.h"
#include "pawl/decide.h"

namespace pawl {
namespace {

constexpr int kAttemptsMax = 100;
constexpr TokenHash kAttemptToken{std::byte{1}};

// The record that runs the task, on its way to failure.
class Running {
 public:
  Running(std::shared_ptr<const Machine> machine, const Stimulus& creation, Instant now)
      : machine_(std::move(machine)), record_(decide(*machine_, {}, creation, now).record) {}

  bool is_over() const { return machine_->state(*machine_->find_state(record_.state)).final; }
  bool may_start() const { return record_.ready_at.has_value(); }

  // An attempt, and the failure that brings the end nearest; false when none does.
  bool fail_once(AsideJob& job) {
    const Instant start = std::max(*record_.ready_at, record_.changed_at);
    record_ = decided(Stimulus::Start{.token_hash = kAttemptToken}, start).record;
    job.steps.push_back({.at = start});
    if (!record_.running) return true;  // it gave up instead
    const Instant at =
        start + std::min<Duration>(std::chrono::seconds{1}, (*record_.wake_at - start) / 2);
    std::optional<Decision> nearest;
    for (const std::string& code : codes_of(*machine_, *machine_->find_state("running"), {})) {
      Decision failed =
          decided(Stimulus::Fail{.token_hash = kAttemptToken, .error = {.code = code}}, at);
      const bool counts = failed.record.failures > record_.failures || !failed.record.ready_at;
      if (!counts || (nearest && !is_nearer(failed.record, nearest->record))) continue;
      nearest = std::move(failed);
    }
    if (!nearest) return false;
    job.steps.push_back({.at = at, .code = nearest->record.error->code});
    for (const Effect& effect : nearest->effects)
      if (effect.verb == Effect::Verb::send)
        job.otherwise = {.event = effect.target, .payload = effect.payload, .from = record_.id};
    record_ = std::move(nearest->record);
    return true;
  }

 private:
  Decision decided(decltype(Stimulus::what) what, Instant now) const {
    return decide(*machine_, record_,
                  {.what = std::move(what), .machine = record_.machine, .key = record_.key}, now);
  }

  // Without an instant at which it is ready it has failed for good.
  static bool is_nearer(const Record& a, const Record& b) {
    return b.ready_at && (!a.ready_at || *a.ready_at < *b.ready_at);
  }

  std::shared_ptr<const Machine> machine_;
  Record record_;
};

}  // namespace

std::optional<AsideJob> quickest_failure(const Effect& effect, const Record& asker,
                                         const Machine& machine, BuiltIns& built_ins, Instant now) {
  const Stimulus creation = carrier_of(effect, asker, RecordId{asker.id.value + 1}, now);
  const SideJob job{.machine = asker.machine,
                    .version = asker.version,
                    .task = effect.target,
                    .then = effect.then,
                    .otherwise = effect.otherwise};
  Running running(built_ins.run(job, machine), creation, now);
  AsideJob failing{.task = effect.target};
  for (int attempt = 0; attempt < kAttemptsMax && !running.is_over(); ++attempt) {
    if (!running.may_start() || !running.fail_once(failing)) return std::nullopt;
  }
  if (!running.is_over() || failing.otherwise.event.empty()) return std::nullopt;
  return failing;
}

}  // namespace pawl
