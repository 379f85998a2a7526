#include "cli/cli.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/json_text.h"

namespace pawl::cli {
namespace {

struct Ran {
  ExitCode code;
  std::string out;
  std::string err;
};

Ran run_pawl(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const auto now = [] { return *parse_instant("2026-11-16T12:00:00Z"); };
  const ExitCode code = run(arguments, {out, err, now});
  return {code, out.str(), err.str()};
}

// The exit codes hold for all verbs; the numbers are what scripts rely on.
TEST(ExitCodes, AreOneTable) {
  ASSERT_EQ(kExitCodes.size(), 5U);
  for (std::size_t i = 0; i < kExitCodes.size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(kExitCodes[i].code), i);
  EXPECT_EQ(exit_code_of(ErrorCode::bad_input), ExitCode::wrong);
  EXPECT_EQ(exit_code_of(ErrorCode::environment), ExitCode::environment);

  EXPECT_EQ(run_pawl({"next", "--cron", "@daily"}).code, ExitCode::ok);
  EXPECT_EQ(run_pawl({"version"}).code, ExitCode::ok);
  EXPECT_EQ(run_pawl({"--help"}).code, ExitCode::ok);
  EXPECT_EQ(run_pawl({"next", "--help"}).code, ExitCode::ok);
  const std::vector<std::vector<std::string>> kWrong = {
      {"next", "--rrule", "FREQ=NEVER"},
      {"next", "--rrule", "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30"},
      {"next", "--rrule", "FREQ=DAILY;INTERVAL=7;BYDAY=MO", "--dtstart", "2026-01-06T00:00:00"},
      {"next", "--cron", "61 * * * *"},
      {"next", "--cron", "@daily", "--tz", "Mars/Base"},
      {"next", "--cron", "@daily", "--after", "yesterday"},
      {"next", "--cron", "@daily", "--dtstart", "soon"},
      {"explain-rule", "--rrule", "FREQ=DAILY;BYSETPOS=1"},
  };
  for (const auto& arguments : kWrong)
    EXPECT_EQ(run_pawl(arguments).code, ExitCode::wrong) << arguments[2];
  const std::vector<std::vector<std::string>> kUsage = {
      {},
      {"nxt"},
      {"next"},
      {"next", "--rrule", "FREQ=DAILY", "--cron", "@daily"},
      {"next", "--cron"},
      {"next", "--cron", "@daily", "--count", "0"},
      {"next", "--cron", "@daily", "--count", "many"},
      {"next", "--cron", "@daily", "--gap", "jump"},
      {"next", "--cron", "@daily", "--fold", "never"},
      {"next", "--cron", "@daily", "--unknown"},
      {"next", "--cron", ""},
      {"next", "--cron", "@daily", "--tz", ""},
      {"next", "--cron", "@daily", "--dtstart", ""},
      {"next", "--cron", "@daily", "--after", ""},
      {"next", "--cron", "@daily", "--count", "010"},
      {"version", "extra"},
  };
  for (const auto& arguments : kUsage)
    EXPECT_EQ(run_pawl(arguments).code, ExitCode::usage)
        << (arguments.empty() ? "" : arguments.back());
}

TEST(ExitCodes, StandInTheDocumentation) {
  std::ifstream file(PAWL_SOURCE_DIR "/docs/reference/cli.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [code, meaning] : kExitCodes) {
    const std::string row =
        "| " + std::to_string(static_cast<int>(code)) + " | " + std::string(meaning) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(CliNext, JsonIsOneArrayOfInstantsAndNothingElse) {
  const Ran ran =
      run_pawl({"next", "--rrule", "FREQ=DAILY;COUNT=3", "--dtstart", "1997-10-25T09:00:00", "--tz",
                "America/New_York", "--after", "1997-01-01T00:00:00Z", "--json"});
  EXPECT_EQ(
      ran.out,
      "[\"1997-10-25T09:00:00-04:00\",\"1997-10-26T09:00:00-05:00\",\"1997-10-27T09:00:00-05:00\"]\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(check_json(ran.out));
  EXPECT_EQ(run_pawl({"next", "--rrule", "FREQ=DAILY;COUNT=1", "--dtstart", "1997-10-25T09:00:00",
                      "--json"})
                .out,
            "[]\n");
}

TEST(CliNext, StartAndAfterWithAnOffsetAreInstants) {
  // 03:00 UTC on the 2nd is 22:00 on the 1st in New York.
  EXPECT_EQ(run_pawl({"next", "--rrule", "FREQ=DAILY", "--dtstart", "2026-01-02T03:00:00Z", "--tz",
                      "America/New_York", "--after", "2026-01-02T04:00:00+01:00", "--count", "1",
                      "--json"})
                .out,
            "[\"2026-01-02T22:00:00-05:00\"]\n");
  // Without an offset --after is local too.
  EXPECT_EQ(run_pawl({"next", "--cron", "0 9 * * *", "--tz", "America/New_York", "--dtstart",
                      "2026-01-01", "--after", "2026-01-02T09:00:00", "--count", "1", "--json"})
                .out,
            "[\"2026-01-03T09:00:00-05:00\"]\n");
}

TEST(CliNext, StartMayBeADateOrAnICalendarTime) {
  const auto first = [](const std::string& start) {
    return run_pawl({"next", "--rrule", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "--dtstart",
                     start, "--after", "2026-01-01T23:00:00Z", "--count", "1", "--json"})
        .out;
  };
  EXPECT_EQ(first("2026-01-02"), "[\"2026-01-02T00:00:00+00:00\"]\n");  // a DATE ignores BYHOUR
  EXPECT_EQ(first("20260102"), "[\"2026-01-02T00:00:00+00:00\"]\n");
  EXPECT_EQ(first("20260102T000000"), "[\"2026-01-02T09:00:00+00:00\"]\n");
  EXPECT_EQ(first("20260102T000000Z"), "[\"2026-01-02T09:00:00+00:00\"]\n");
}

TEST(CliNext, TakesICalendarLinesSeveralRulesAndDates) {
  EXPECT_EQ(
      run_pawl(
          {"next", "--rrule",
           "DTSTART;TZID=Europe/Berlin:20260101T090000\nRRULE:FREQ=DAILY;COUNT=2\nEXDATE:20260102T090000",
           "--rrule", "FREQ=YEARLY;COUNT=1;BYMONTH=6;BYMONTHDAY=1", "--rdate",
           "2026-03-01T10:00:00", "--after", "2025-01-01T00:00:00Z", "--json"})
          .out,
      "[\"2026-01-01T09:00:00+01:00\",\"2026-03-01T10:00:00+01:00\",\"2026-06-01T09:00:00+02:00\"]\n");
}

TEST(CliNext, PeopleSeeLocalTimeUtcDistanceAndClockChanges) {
  const Ran gap = run_pawl({"next", "--rrule", "FREQ=DAILY", "--dtstart", "2027-03-28T02:30:00",
                            "--tz", "Europe/Berlin", "--count", "2"});
  EXPECT_EQ(
      gap.out,
      "Sun 2027-03-28 03:30:00 CEST   2027-03-28 01:30:00 UTC  in 131d 13h     moved: 02:30:00 does not exist that day (gap)\n"
      "Mon 2027-03-29 02:30:00 CEST   2027-03-29 00:30:00 UTC  in 132d 12h\n");
  const Ran fold =
      run_pawl({"next", "--rrule", "FREQ=HOURLY;COUNT=1", "--dtstart", "2026-10-25T02:30:00",
                "--tz", "Europe/Berlin", "--after", "2026-10-24T00:00:00Z"});
  EXPECT_EQ(
      fold.out,
      "Sun 2026-10-25 02:30:00 CEST   2026-10-25 00:30:00 UTC  22d 11h ago     the first of two such times (fold)\n"
      "Sun 2026-10-25 02:30:00 CET    2026-10-25 01:30:00 UTC  22d 10h ago     the second of two such times (fold)\n"
      "the rule ends here\n");
  EXPECT_EQ(run_pawl({"next", "--rrule", "FREQ=DAILY;UNTIL=20200101T000000Z", "--dtstart",
                      "2019-01-01T00:00:00"})
                .out,
            "nothing after 2026-11-16T12:00:00+00:00: the rule has ended\n");
}

TEST(CliNext, GapAndFoldCanBeChosen) {
  const auto times = [](const std::string& option, const std::string& value,
                        const std::string& start) {
    return run_pawl({"next", "--rrule", "FREQ=DAILY", "--dtstart", start, "--tz",
                     "America/New_York", "--after", "2026-03-01T00:00:00Z", option, value,
                     "--count", "2", "--json"})
        .out;
  };
  EXPECT_EQ(times("--gap", "skip", "2026-03-08T02:30:00"),
            "[\"2026-03-09T02:30:00-04:00\",\"2026-03-10T02:30:00-04:00\"]\n");
  EXPECT_EQ(times("--fold", "both", "2026-11-01T01:30:00"),
            "[\"2026-11-01T01:30:00-04:00\",\"2026-11-01T01:30:00-05:00\"]\n");
  EXPECT_EQ(times("--fold", "last", "2026-11-01T01:30:00"),
            "[\"2026-11-01T01:30:00-05:00\",\"2026-11-02T01:30:00-05:00\"]\n");
}

// An instant is that instant, also where its local time comes twice.
TEST(CliNext, NothingHappensBeforeAStartWithAnOffset) {
  const auto times = [](const std::string& freq) {
    return run_pawl({"next", "--rrule", "FREQ=" + freq, "--dtstart", "2026-10-25T02:30:00+01:00",
                     "--tz", "Europe/Berlin", "--after", "2026-10-24T00:00:00Z", "--count", "2",
                     "--json"})
        .out;
  };
  EXPECT_EQ(times("HOURLY"), "[\"2026-10-25T02:30:00+01:00\",\"2026-10-25T03:30:00+01:00\"]\n");
  EXPECT_EQ(times("DAILY"), "[\"2026-10-26T02:30:00+01:00\",\"2026-10-27T02:30:00+01:00\"]\n");
}

TEST(CliNext, DatesAreReadAsWrittenOrRefused) {
  const auto rdate = [](const std::string& text) {
    return run_pawl({"next", "--rrule", "FREQ=YEARLY;COUNT=1", "--dtstart", "2026-01-01T00:00:00",
                     "--tz", "America/New_York", "--rdate", text, "--after", "2026-06-01T00:00:00Z",
                     "--json"});
  };
  EXPECT_EQ(rdate("2026-12-27T10:00:00").out, "[\"2026-12-27T10:00:00-05:00\"]\n");
  EXPECT_EQ(rdate("2026-12-27T10:00:00Z").out, "[\"2026-12-27T05:00:00-05:00\"]\n");
  EXPECT_EQ(rdate("20261227T100000").out, "[\"2026-12-27T10:00:00-05:00\"]\n");
  for (const char* bad : {"2026-12-27T10:00-05", "2026-1-101", "2-0:2612-27T1:0:0:0:00",
                          "2026-12-27", "2026-12-27T09:00:60"}) {
    EXPECT_EQ(rdate(bad).code, ExitCode::wrong) << bad;
  }
}

TEST(CliNext, ContradictionsAreRefused) {
  const std::string lines = "DTSTART;TZID=Europe/Berlin:20260101T090000\nRRULE:FREQ=DAILY";
  EXPECT_EQ(run_pawl({"next", "--rrule", lines, "--dtstart", "2026-02-01T00:00:00"}).code,
            ExitCode::wrong);
  EXPECT_EQ(run_pawl({"next", "--rrule", lines, "--tz", "UTC"}).code, ExitCode::wrong);
  EXPECT_EQ(run_pawl({"next", "--rrule", lines, "--rrule", lines}).code, ExitCode::wrong);
  EXPECT_EQ(run_pawl({"next", "--rrule", lines, "--tz", "Europe/Berlin"}).code, ExitCode::ok);
  EXPECT_EQ(run_pawl({"next", "--rrule", "DTSTART:20260101T090000"}).code, ExitCode::wrong);
  EXPECT_EQ(run_pawl({"next", "--cron", "@daily", "--tz", "localtime"}).code, ExitCode::wrong);
  EXPECT_EQ(
      run_pawl({"next", "--cron", "30 2 * 3 SUNL", "--tz", "Europe/Berlin", "--gap", "skip"}).code,
      ExitCode::wrong);
}

TEST(CliNext, MistakesInLinesPointAtTheirLine) {
  EXPECT_EQ(
      run_pawl(
          {"next", "--rrule",
           "DTSTART;TZID=Europe/Berlin:20260101T090000\nRRULE:FREQ=DAILY;UNTIL=20261201T000000"})
          .err,
      "pawl: --rrule:2:24: error: DTSTART has a time and a zone, so UNTIL must be in UTC, not local time; write UNTIL=20261130T230000Z\n"
      "  RRULE:FREQ=DAILY;UNTIL=20261201T000000\n"
      "                         ^\n");
  EXPECT_EQ(run_pawl({"next", "--rrule", "RRULE:FREQ=DAI\n LY;BYHOUR=99"}).err,
            "pawl: --rrule:1:25: error: BYHOUR takes 0 to 23, not '99'\n"
            "  RRULE:FREQ=DAILY;BYHOUR=99\n"
            "                          ^\n");
  EXPECT_NE(run_pawl({"next", "--rrule", "FREQ=DAILY;UNTIL=2026-12-01T00:00:00Z"})
                .err.find("1:18: error: UNTIL: '2026-12-01T00:00:00Z' is not a date or time"),
            std::string::npos);
}

TEST(CliNext, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(run_pawl({"next", "--rrule", "FREQ=\x1b[31mX"}).err.find('\x1b'), std::string::npos);
}

TEST(CliNext, MistakesPointAtTheColumn) {
  const Ran ran = run_pawl({"next", "--rrule", "FREQ=DAILY;BYHOUR=25"});
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "pawl: --rrule:1:19: error: BYHOUR takes 0 to 23, not '25'\n"
            "  FREQ=DAILY;BYHOUR=25\n"
            "                    ^\n");
  EXPECT_NE(
      run_pawl({"next", "--rrule", "FREQ=DAILY;UNTIL=19971224T000000", "--tz", "America/New_York"})
          .err.find("write UNTIL=19971224T050000Z"),
      std::string::npos);
}

TEST(CliVersion, JsonNamesDependenciesAndTzdata) {
  const Ran ran = run_pawl({"version", "--json"});
  EXPECT_TRUE(check_json(ran.out)) << ran.out;
  for (const char* part : {"\"pawl\":\"", "\"dependencies\":{", "\"simdjson\":\"", "\"date\":\"",
                           "\"cli11\":\"", "\"tzdata\":\"20"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  }
}

TEST(CliExplainRule, SaysTheRuleInEnglish) {
  EXPECT_EQ(
      run_pawl({"explain-rule", "--rrule", "FREQ=MONTHLY;BYDAY=-1FR", "--dtstart",
                "2026-01-01T09:00:00", "--tz", "Europe/Berlin"})
          .out,
      "Every month on the last Friday at 09:00 (Europe/Berlin).\n"
      "When clocks change: a local time that does not exist is moved by the length of the gap; one that exists twice happens the first time.\n");
  EXPECT_EQ(run_pawl({"explain-rule", "--cron", "0 9 * * MON-FRI", "--json"}).out,
            "{\"english\":\"On Monday to Friday at 09:00 (UTC).\",\"clock_changes\":\"\"}\n");
}

TEST(Cli, WordsThatAreNotKnownAreSaidWithTheNearest) {
  const auto says = [](const std::vector<std::string>& arguments) {
    const std::string err = run_pawl(arguments).err;
    return err.substr(0, err.find('\n'));
  };
  EXPECT_EQ(says({"nxt"}), "pawl: unknown verb 'nxt'; did you mean next?");
  EXPECT_EQ(says({"token", "creat", "x"}), "pawl: unknown verb 'creat'; did you mean create?");
  EXPECT_EQ(says({"dead"}), "pawl: a verb is required: list, retry or discard");
  EXPECT_EQ(says({"list", "--stat", "x"}), "pawl: unknown option --stat; did you mean --state?");
  EXPECT_EQ(says({"version", "extra"}), "pawl: unexpected argument 'extra'");
  EXPECT_EQ(says({"next", "--cron"}), "pawl: --cron needs a value");
}

TEST(Cli, HelpIsAVerbToo) {
  EXPECT_EQ(run_pawl({"help"}).out, run_pawl({"--help"}).out);
  EXPECT_EQ(run_pawl({"help", "token", "create"}).out, run_pawl({"token", "create", "--help"}).out);
}

TEST(Cli, HelpNamesEveryVerbAndTheExitCodes) {
  const Ran ran = run_pawl({"--help"});
  for (const char* part :
       {"next", "explain-rule", "version", "Exit codes:\n  0  success\n  1  invalid input"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace pawl::cli
