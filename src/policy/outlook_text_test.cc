#include "policy/outlook_text.h"

#include <chrono>

#include "tests/policy/example_machine.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

std::string page(const std::shared_ptr<const Machine>& machine, const char* state = "working") {
  std::string page;
  for (const std::string& line : to_lines(outlook_of(*machine, *machine->find_state(state))))
    page += line + "\n";
  return page;
}

std::string page(const std::string& keys, const std::string& more = "") {
  return page(machine_with(keys, more));
}

TEST(OutlookText, ShowsFailuresAndTheEnd) {
  EXPECT_EQ(page(machine_in("order"), "paying"),
            R"(If every attempt fails and is retried, counted from the first start:
  failure  waits  soonest start  latest start
  1        0s     0s             30s
  2        1m     1m             2m
  3        5m     6m             7m30s
  4        30m    36m            38m
  5        gives up after 36m to 38m30s: hold, alerts `oncall`
If every attempt is answered `http_429`, counted from the first start:
  answer  waits        soonest start  latest start
  1       0s to 10s    0s             40s
  2       0s to 20s    0s             1m30s
  3       0s to 40s    0s             2m40s
  4       0s to 1m20s  0s             4m30s
  5       0s to 2m40s  0s             7m40s
  6       0s to 5m20s  0s             13m30s
  7       0s to 10m    0s             24m
  …       and so on, every 0s to 10m, without end
After 2d of failures, it gives up: hold, alerts `oncall`; the delays are used up before that.
After 3d the record leaves the state, retries or not.
)");
}

TEST(OutlookText, SaysWhatThePlanDoesToIt) {  // S2-43
  EXPECT_EQ(page(machine_in("big_table_week"), "refreshing"),
            R"(If every attempt fails and is retried, counted from the first start:
  failure  waits  soonest start  latest start
  1        0s     0s             1h
  2        1m     1m             2h1m
  3        5m     6m             3h6m
  4        15m    21m            4h21m
  5        30m    51m            5h51m
  6        1h     1h51m          7h51m
  7        gives up after 1h51m to 8h51m: to `idle`, no alert
After 7d of failures, across all rounds, it gives up: to `idle`, hold, no alert, notifies `customer_mail`.
A retry that might end after the next planned time starts at that time instead; the table does not show this.
)");
  EXPECT_EQ(page("align: only_planned, retry: [1s, 2s]", "schedule: {every: 1d}"),
            R"(If every attempt fails and is retried, counted from the first start:
  …  each retry starts at the next planned time
  3  gives up: hold, alerts the server's channel
)");
  EXPECT_EQ(page("align: retry, retry: [1s]", "schedule: {every: 1d}").find("planned"),
            std::string::npos);
  EXPECT_NE(page("align: whichever_first, retry: [1s]", "schedule: {every: 1d}").find("earlier"),
            std::string::npos);
}

TEST(OutlookText, SaysWhatIsNotKnown) {
  EXPECT_EQ(page("retry: [1s, \"{data.wait}\"], give_up: {elapsed: \"{data.limit}\", to: over}"),
            R"(If every attempt fails and is retried, counted from the first start:
  failure  waits        soonest start  latest start
  1        1s           1s             1m1s
  2        {data.wait}  ?              ?
  3        gives up: hold, no alert
After {data.limit} of failures, it gives up: to `over`, no alert.
Depends on the record: `{data.wait}` and `{data.limit}`.
)");
  EXPECT_EQ(page("retry: \"{data.wait}\""),
            R"(If every attempt fails and is retried, counted from the first start:
  failure  waits        soonest start  latest start
  1        {data.wait}  ?              ?
  …        and so on, every {data.wait}, without end
Depends on the record: `{data.wait}`.
)");
}

TEST(OutlookText, SaysWithWhichErrorAndCondition) {
  EXPECT_EQ(page("errors: {timeout: retry, crashed: retry, default: give_up}, retry: [1s]"),
            R"(If every attempt fails with `timeout` or `crashed`, counted from the first start:
  failure  waits  soonest start  latest start
  1        1s     1s             1m1s
  2        gives up after 1s to 2m1s: hold, alerts the server's channel
)");
  EXPECT_EQ(page("errors: {x: [{if: data.wait == null, retry: [1s], transient: true}], "
                 "default: give_up}, give_up: [{if: data.limit == null, to: over}, {alert: ops}]"),
            R"(If every attempt fails with `x` (if data.wait == null), counted from the first start:
  failure  waits  soonest start  latest start
  1        1s     1s             1m1s
  2        gives up after 1s to 2m1s: if data.limit == null: to `over`, no alert; else hold, no alert
)");
}

TEST(OutlookText, OneDelayForEverOfOneErrorNeedsNoTable) {
  EXPECT_EQ(page("errors: {x: {retry: 5s}, y: {later: 1s}, default: give_up}"), "");
}

TEST(OutlookText, CountsTheFailuresUntilATimeIsOver) {
  EXPECT_EQ(page("retry: 1m, give_up: {elapsed: 1h, hold: a, alert: b}"),
            R"(If every attempt fails and is retried, counted from the first start:
  failure  waits  soonest start  latest start
  1        1m     1m             2m
  …        and so on, every 1m, without end
After 1h of failures (30 or more), it gives up: hold, alerts `b`.
)");
}

TEST(OutlookText, WithoutATaskItComesBack) {
  EXPECT_EQ(page(machine_in("attempt"), "solves_processing"),
            R"(If it fails every time and is retried, counted from the first failure:
  failure  waits  comes back
  1        10m    10m
  2        10m    20m
  3        gives up after 20m or more: hold, alerts `opsgenie`, notifies `recruit_attempt_state_machine_errors`
It comes back to `attempt_cleanup` first; the table does not include the time there.
)");
}

TEST(ShortText, IsAsPeopleSayIt) {
  EXPECT_EQ(short_text(Duration{0}), "0s");
  EXPECT_EQ(short_text(Duration{100}), "0.1ms");
  EXPECT_EQ(short_text(Duration{300ms}), "300ms");
  EXPECT_EQ(short_text(Duration{38'400ms}), "38.4s");
  EXPECT_EQ(short_text(Duration{1min}), "1m");
  EXPECT_EQ(short_text(Duration{7min + 30s}), "7m30s");
  EXPECT_EQ(short_text(Duration{24h + 1min}), "1d1m");
  EXPECT_EQ(short_text(Duration{1h + 50ms}), "1h0.05s");
  EXPECT_EQ(short_text(kDurationMax), "9,999 years");
}

TEST(ShortText, OfWhatLiesBetween) {
  EXPECT_EQ(short_text(Between{8s, 12s}), "8s to 12s");
  EXPECT_EQ(short_text(Between{8s, 8s}), "8s");
  EXPECT_EQ(short_text(Between{8s, std::nullopt}), "8s or more");
  EXPECT_EQ(short_text(Between{std::nullopt, std::nullopt}), "?");
}

TEST(OutlookText, SaysWhenTheStayEndsOnlyWhereARunIsLonger) {
  const std::string sentence = "the record leaves the state";
  // A minute for each of two attempts, and one between them.
  EXPECT_EQ(page("retry: [1m], after: {3m: over}").find(sentence), std::string::npos);
  EXPECT_NE(page("retry: [1m], after: {2m: over}").find(sentence), std::string::npos);
}

}  // namespace
}  // namespace pawl
