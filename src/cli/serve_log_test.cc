#include "cli/serve_log.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/json_text.h"

namespace pawl::cli {
namespace {

const Instant kNine = *parse_instant("2026-03-02T09:00:00Z");

Notice retry() {
  return {.kind = Notice::Kind::retry,
          .at = kNine,
          .machine = "order",
          .key = "a b",
          .state = "paying",
          .code = "http_503",
          .fingerprint = 7,
          .attempt = 2,
          .max = 4,
          .next_at = kNine + std::chrono::seconds{30}};
}

// All that was written, once the log has ended.
std::string written(ServeLog::Format format, ServeLog::Level level, auto write) {
  std::ostringstream out;
  std::mutex output;
  {
    ServeLog log(out, output, format, level);
    write(log);
  }
  return out.str();
}

TEST(ServeLog, ARetryIsSaidWithItsDecision) {
  const auto write = [](ServeLog& log) { log.write(retry()); };
  EXPECT_EQ(written(ServeLog::Format::human, ServeLog::Level::info, write),
            "2026-03-02T09:00:00Z info retry record=\"order/a b\" state=paying attempt=2 max=4 "
            "delay=30s error=http_503 fingerprint=0000000000000007 next_at=2026-03-02T09:00:30Z\n");
  const std::string json = written(ServeLog::Format::json, ServeLog::Level::info, write);
  EXPECT_EQ(json,
            R"({"at":"2026-03-02T09:00:00Z","level":"info","event":"retry","record":"order/a b",)"
            R"("state":"paying","attempt":2,"max":4,"delay":"30s","error":"http_503",)"
            R"("fingerprint":"0000000000000007","next_at":"2026-03-02T09:00:30Z"})"
            "\n");
  EXPECT_TRUE(check_json(json));
}

TEST(ServeLog, WhoHasDoneWhatIsSaid) {
  using Kind = Notice::Kind;
  const std::string said =
      written(ServeLog::Format::human, ServeLog::Level::info, [](ServeLog& log) {
        log.write({.kind = Kind::applied,
                   .at = kNine,
                   .machine = "order",
                   .version = 3,
                   .actor = "ann via shop"});
        for (const Kind kind : {Kind::paused, Kind::pause_ended, Kind::token_made,
                                Kind::token_revoked, Kind::clock_moved})
          log.write({.kind = kind, .at = kNine, .subject = "queue:q", .actor = "eve"});
      });
  EXPECT_EQ(said,
            "2026-03-02T09:00:00Z info applied machine=order version=3 actor=\"ann via shop\"\n"
            "2026-03-02T09:00:00Z warn paused what=queue:q actor=eve\n"
            "2026-03-02T09:00:00Z info pause_ended what=queue:q actor=eve\n"
            "2026-03-02T09:00:00Z info token_made token=queue:q actor=eve\n"
            "2026-03-02T09:00:00Z info token_revoked token=queue:q actor=eve\n"
            "2026-03-02T09:00:00Z info clock_moved to=queue:q actor=eve\n");
}

TEST(ServeLog, SoIsWhatIsAskedAgainLater) {
  Notice later = retry();
  later.kind = Notice::Kind::later;
  later.max.reset();
  EXPECT_EQ(written(ServeLog::Format::human, ServeLog::Level::info,
                    [&](ServeLog& log) { log.write(later); }),
            "2026-03-02T09:00:00Z info later record=\"order/a b\" state=paying attempt=2 delay=30s "
            "error=http_503 fingerprint=0000000000000007 next_at=2026-03-02T09:00:30Z\n");
}

TEST(ServeLog, WhatIsBelowTheLevelIsNotSaid) {
  const std::string said =
      written(ServeLog::Format::human, ServeLog::Level::warn, [](ServeLog& log) {
        log.write(retry());
        log.write({.kind = Notice::Kind::slow_commit,
                   .at = kNine,
                   .units = 3,
                   .took = std::chrono::seconds{2}});
      });
  EXPECT_EQ(said, "2026-03-02T09:00:00Z warn slow_commit units=3 took=2s\n");
}

// Neither a line nor a field can be made up by what others give.
TEST(ServeLog, WhatOthersGiveStaysInItsField) {
  const std::string said =
      written(ServeLog::Format::human, ServeLog::Level::info, [](ServeLog& log) {
        log.write(ServeLog::Level::warn, kNine, "denied",
                  {{"path", "/x error=none\n2026 info ready"}, {"actor", ""}});
      });
  EXPECT_EQ(said,
            "2026-03-02T09:00:00Z warn denied path=\"/x error=none\\n2026 info ready\" "
            "actor=\"\"\n");
}

TEST(ServeLog, WhatThereIsNoRoomForIsCounted) {
  std::ostringstream out;
  std::mutex output;
  {
    ServeLog log(out, output, ServeLog::Format::human, ServeLog::Level::info);
    const std::lock_guard nobody_reads(output);
    for (std::size_t i = 0; i < 3 * ServeLog::kWaitingMax; ++i)
      log.write(ServeLog::Level::info, kNine, "one", {});
  }
  const std::string said = out.str();
  EXPECT_NE(said.find(" warn lines_left_out lines="), std::string::npos);
  EXPECT_LE(static_cast<std::size_t>(std::count(said.begin(), said.end(), '\n')),
            2 * ServeLog::kWaitingMax + 2);
}

}  // namespace
}  // namespace pawl::cli
