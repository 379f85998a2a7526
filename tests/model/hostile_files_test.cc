// Files of up to 1 MiB that are made to be slow to read. The bound is wide enough for slow builds
// and still far below what goes with the square of the size. PAWL_COSTS=1 prints what each took.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "model/tree.h"
#include "pawl/machine_file.h"
#include "well_formed.h"

namespace pawl {
namespace {

constexpr double kSecondsMax = 10.0;

// Of this thread only, so that a busy machine does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// `begin`, then as many parts as fit into a file, then `end`.
std::string filled(std::string begin, const std::function<std::string(int)>& part,
                   const std::string& end = "", int most = 1'000'000) {
  for (int i = 0; i < most; ++i) {
    const std::string next = part(i);
    if (begin.size() + next.size() + end.size() > kFileBytesMax) break;
    begin += next;
  }
  return begin + end;
}

std::string number(int i) { return std::to_string(i); }

const std::string kHead = "machine: m\ninitial: a\n";
const std::string kSmall = kHead + "states: {a: {on: {e: b}}, b: {final: true}}\n";

// That many states, each waiting for `e`.
std::string states(int count, const std::string& more = "") {
  return filled(
      kHead + "states:\n  a: {on: {e: a}" + more + "}\n",
      [&](int i) { return "  s" + number(i) + ": {on: {e: a}" + more + "}\n"; }, "", count);
}

struct Hostile {
  const char* name;
  std::function<std::string()> text;
};

const std::vector<Hostile>& hostile_files() {
  static const std::vector<Hostile> files = {
      {"unknown keys",
       [] { return filled(kSmall, [](int i) { return "k" + number(i) + ": 1\n"; }); }},
      {"keys with a typing mistake",
       [] { return filled(kSmall, [](int i) { return "initia" + number(i) + ": 1\n"; }); }},
      {"unknown keys of a state",
       [] {
         return filled(
             kHead + "states: {a: {", [](int i) { return "k" + number(i) + ": 1, "; }, "}}\n");
       }},
      {"one-letter lines of English",
       [] { return filled(kSmall + "policies:\n  p: |\n", [](int) { return "    x\n"; }); }},
      {"one long line of English",
       [] {
         return filled(
             kSmall + "policies:\n  p: ", [](int) { return "every "; }, "day\n");
       }},
      {"letters of English with matches",
       [] {
         return filled(
             kSmall + "policies:\n  p: on the ", [](int) { return "failure, retry "; }, "\n");
       }},
      {"lines of English that say it twice",
       [] {
         return filled(kSmall + "policies:\n  p: |\n",
                       [](int) { return "    Allow 1 hour to complete\n"; });
       }},
      {"wrong targets",
       [] {
         return filled(kHead + "states:\n  a:\n    on:\n",
                       [](int i) { return "      e" + number(i) + ": x" + number(i) + "\n"; });
       }},
      {"wrong targets among 5,000 states",
       [] {
         return filled(states(4'999) + "on:\n",
                       [](int i) { return "  e" + number(i) + ": t" + number(i) + "\n"; });
       }},
      {"wrong targets among 5,000 states with long names",
       [] {
         const std::string name(60, 'x');
         const std::string begin = filled(
             kHead + "states:\n  a: {on: {e: a}}\n",
             [&](int i) { return "  " + name + number(i) + ": {on: {e: a}}\n"; }, "on:\n", 4'999);
         return filled(begin, [&](int i) {
           return "  e" + number(i) + ": " + name + "y" + number(i) + "\n";
         });
       }},
      {"5,000 states each with errors",
       [] {
         return states(4'999, ", tusk: x, tesk: y, done: z, afte: {1: q}, task: v, final: 1");
       }},
      {"5,000 states each with wrong names",
       [] {
         return states(4'999,
                       ", task: t, started: u, checkpoint: v, policy: w, done: x, failure: z");
       }},
      {"5,000 dead ends",
       [] {
         return filled(
             kHead + "states:\n  a: {}\n", [](int i) { return "  s" + number(i) + ": {}\n"; }, "",
             4'999);
       }},
      {"too many states",
       [] {
         return filled(kHead + "states:\n  a: {}\n",
                       [](int i) { return "  s" + number(i) + ": {}\n"; });
       }},
      {"deep lists", [] { return filled(kSmall + "labels: {x: ", [](int) { return "["; }); }},
      {"deep maps", [] { return filled(kSmall + "labels: {x: ", [](int) { return "{a: "; }); }},
      {"just deep enough, again and again",
       [] {
         return filled(
             kSmall + "labels: {x: [",
             [](int) { return std::string(50, '[') + std::string(50, ']') + ","; }, "]}\n");
       }},
      {"one huge map",
       [] {
         return filled(
             kSmall + "labels: {x: {", [](int i) { return "k" + number(i) + ": 1,"; }, "}}\n");
       }},
      {"one huge list",
       [] {
         return filled(
             kSmall + "labels: {x: [", [](int) { return "1,"; }, "]}\n");
       }},
      {"one key again and again", [] { return filled(kSmall, [](int) { return "a: 1\n"; }); }},
      {"long names",
       [] {
         const std::string name(100'000, 'x');
         return filled(kHead + "states:\n", [&](int i) {
           return "  " + std::string(1, char('a' + i)) + name + ": {on: {e: b" + name + "y}}\n";
         });
       }},
      {"names of a thousand letters",
       [] {
         const std::string name(900, 'x');
         return filled(kHead + "states:\n", [&](int i) {
           return "  " + name + number(i) + ": {on: {e: " + name + "z" + number(i) + "}}\n";
         });
       }},
      {"one huge text", [] { return kSmall + "doc: " + std::string(1'000'000, 'x') + "\n"; }},
      {"one huge name",
       [] { return kHead + "states: {a: " + std::string(1'000'000, 'x') + "}\n"; }},
      {"one huge number", [] { return kSmall + "version: " + std::string(1'000'000, '9') + "\n"; }},
      {"one huge duration",
       [] { return kSmall + "timeout: " + std::string(1'000'000, '9') + "s\n"; }},
      {"a huge order",
       [] {
         return filled(
             kSmall + "order: [", [](int i) { return "a" + number(i) + ","; }, "]\n");
       }},
      {"many migrations",
       [] {
         return filled(
             kSmall + "migrate: {", [](int i) { return number(i + 1) + ": {},"; }, "}\n");
       }},
      {"many rows in one list",
       [] {
         return filled(
             kHead + "states: {a: {on: {e: [", [](int) { return "{if: x},"; }, "]}}}\n");
       }},
      {"many rows that are never reached",
       [] {
         return filled(
             kHead + "states: {a: {on: {e: [", [](int) { return "a,"; }, "]}}}\n");
       }},
      {"many rows of the machine in 5,000 states",
       [] {
         return filled(
             states(4'999) + "on: {x: [", [](int) { return "{if: y, to: a},"; }, "]}\n");
       }},
      {"many events of the machine in 5,000 states",
       [] {
         return filled(
             states(4'999) + "on: {", [](int i) { return "x" + number(i) + ": a,"; }, "}\n");
       }},
      {"many errors of the machine in 5,000 states",
       [] {
         return filled(
             states(4'999, ", task: t, done: a") + "tasks: {t: {queue: q}}\nerrors: {",
             [](int i) { return "x" + number(i) + ": a,"; }, "}\n");
       }},
      {"many errors of a policy that 5,000 states name",
       [] {
         return filled(
             states(4'999, ", policy: p") + "policies: {p: {errors: {",
             [](int i) { return "x" + number(i) + ": retry,"; }, "}}}\n");
       }},
      {"many events in many states",
       [] {
         return filled(kHead + "states:\n  a: {on: {e: a}}\n", [](int i) {
           std::string state = "  s" + number(i) + ": {on: {";
           for (int k = 0; k < 20; ++k)
             state += "x" + number((i * 7 + k * k * 31) % 1'000) + ": a,";
           return state + "}}\n";
         });
       }},
      {"an event for each state, far apart",
       [] {
         return filled(
             kHead + "states:\n  a: {on: {e: a}}\n",
             [](int i) {
               return "  s" + number(i) + ": {on: {x" + number(i) + ": a, y" + number(i / 2) +
                      ": a}}\n";
             },
             "", 4'999);
       }},
      {"many events in one state",
       [] {
         return filled(
             kHead + "states: {a: {on: {", [](int i) { return "x" + number(i) + ": a,"; }, "}}}\n");
       }},
      {"`only` among many events",
       [] {
         std::string text = filled(
             kHead + "states: {a: {on: {", [](int i) { return "x" + number(i) + ": a,"; },
             "}, resume: [", 20'000);
         return filled(
             text, [](int) { return "{event: only},"; }, "]}}\n");
       }},
      {"a huge order that is in force",
       [] {
         std::string text = states(4'999) + "order: [";
         for (int i = 0; i < 4'999; ++i) text += "s" + number(i) + ",";
         return filled(
             text + "]\non: {e: [", [](int) { return "{if: record.state < 's4998'},"; }, "]}\n");
       }},
      {"placeholders in one text",
       [] {
         return filled(
             kSmall + "labels: {x: \"", [](int) { return "{now}"; }, "\"}\n");
       }},
      {"wrong placeholders in one text",
       [] {
         return filled(
             kSmall + "labels: {x: \"", [](int) { return "{x}"; }, "\"}\n");
       }},
      {"many labels",
       [] {
         return filled(
             kSmall + "labels: {", [](int i) { return "x" + number(i) + ": \"{now}\","; }, "}\n");
       }},
      {"many fields and as many uses of them",
       [] {
         std::string text = filled(
             kHead + "data: {", [](int i) { return "f" + number(i) + ": any,"; },
             "}\nstates: {a: {on: {e: [", 20'000);
         return filled(
             text, [](int i) { return "{if: data.f" + number(i) + " == 1},"; }, "]}}}\n");
       }},
      {"many fields and many that are not declared",
       [] {
         std::string text = filled(
             kHead + "data: {", [](int i) { return "f" + number(i) + ": any,"; },
             "}\nstates: {a: {on: {e: [", 20'000);
         return filled(
             text, [](int i) { return "{if: data.g" + number(i) + " == 1},"; }, "]}}}\n");
       }},
      {"many fields and all of them set",
       [] {
         std::string text = filled(
             kHead + "data: {", [](int i) { return "f" + number(i) + ": any,"; },
             "}\nstates: {a: {on: {e: {set: {", 30'000);
         return filled(
             text, [](int i) { return "f" + number(i) + ": 1,"; }, "}}}}}\n");
       }},
      {"a field of many words and wrong values",
       [] {
         std::string text = filled(
             kHead + "data: {f: [", [](int i) { return "w" + number(i) + ","; },
             "]}\nstates: {a: {on: {e: [", 50'000);
         return filled(
             text, [](int i) { return "{set: {f: v" + number(i) + "}},"; }, "]}}}\n");
       }},
      {"wrong states in expressions",
       [] {
         return filled(
             states(4'999) + "on: {e: [",
             [](int i) { return "{if: record.state == 'q" + number(i) + "'},"; }, "]}\n");
       }},
      {"a long expression",
       [] {
         return filled(
             kHead + "states: {a: {on: {e: {if: \"1 == 1", [](int) { return " and 1 == 1"; },
             "\"}}}}\n");
       }},
      {"a deep expression",
       [] {
         return filled(
             kHead + "states: {a: {on: {e: {if: \"", [](int) { return "("; }, "\"}}}}\n");
       }},
      {"many steps of scenarios",
       [] {
         return filled(
             kSmall + "scenarios: {x: {at: y, steps: [", [](int) { return "{fire: z},"; }, "]}}\n");
       }},
      {"many empty scenarios",
       [] {
         return filled(
             kSmall + "scenarios: {", [](int i) { return number(i) + ": {},"; }, "}\n");
       }},
      {"many policies",
       [] {
         return filled(
             kSmall + "policies: {", [](int i) { return "p" + number(i) + ": Panic,"; }, "}\n");
       }},
      {"many policies that wait for the plan",
       [] {
         return filled(
             kSmall + "policies: {",
             [](int i) {
               return "p" + number(i) +
                      ": \"On the first failure, wait for the next planned time\",";
             },
             "}\n");
       }},
      {"many schedules in English",
       [] {
         return filled(
             kSmall + "policies: {",
             [](int i) { return "p" + number(i) + ": Refresh every 2 hours,"; }, "}\n");
       }},
      {"a schedule that hardly ever happens",
       [] {
         return kSmall +
                "schedule: {rrule: FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYHOUR=3;BYMINUTE=7;BYSECOND=11}\n";
       }},
      {"a schedule that never happens",
       [] { return kSmall + "schedule: {rrule: FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30}\n"; }},
      {"a cron line that never happens", [] { return kSmall + "schedule: {cron: 0 0 30 2 *}\n"; }},
      {"anchors",
       [] {
         return filled(
             kSmall + "labels: {x: [", [](int) { return "&a 1,"; }, "]}\n");
       }},
      {"tags",
       [] {
         return filled(
             kSmall + "labels: {x: [", [](int) { return "!t 1,"; }, "]}\n");
       }},
      {"documents", [] { return filled(kSmall, [](int) { return "---\na\n"; }); }},
      {"comments", [] { return filled(kSmall, [](int) { return "#\n"; }); }},
      {"lone colons",
       [] {
         return filled(
             kSmall + "labels: {x: {", [](int) { return ":,"; }, "}}\n");
       }},
      {"not UTF-8 at the end",
       [] {
         return filled(
             kSmall, [](int) { return "#\n"; }, "\xff");
       }},
  };
  return files;
}

// The ids of the findings of a small machine with that many parts somewhere in it.
std::string ids_of(const std::string& begin, std::size_t count,
                   const std::function<std::string(int)>& part, const std::string& end) {
  static const Zones zones = *Zones::open();
  const std::string text = filled(begin, part, end, static_cast<int>(count));
  std::string ids;
  for (const Diagnostic& finding : read_machine(text, zones).findings)
    if (finding.severity == Diagnostic::Severity::error) ids += std::string(finding.id) + " ";
  return ids;
}

TEST(Limits, OfRowsFieldsAndValuesAreNamed) {
  const auto rows = [](std::size_t count) {
    return ids_of(
        kHead + "states: {a: {on: {e: [", count, [](int) { return "{if: x},"; }, "]}}}\n");
  };
  EXPECT_EQ(rows(kListedRowsMax), "");
  EXPECT_EQ(rows(kListedRowsMax + 1), "too_many_rows ");
  const auto fields = [](std::size_t count) {
    return ids_of(
        kSmall + "data: {", count, [](int i) { return "f" + number(i) + ": any,"; }, "}\n");
  };
  EXPECT_EQ(fields(kFieldsMax), "");
  EXPECT_EQ(fields(kFieldsMax + 1), "too_many_fields ");
  const auto words = [](std::size_t count) {
    return ids_of(
        kSmall + "data: {f: [", count, [](int i) { return "w" + number(i) + ","; }, "]}\n");
  };
  EXPECT_EQ(words(kFieldsMax), "");
  EXPECT_EQ(words(kFieldsMax + 1), "too_many_fields ");
  const auto rows_in_states = [](std::size_t states_count) {
    return ids_of(
        kHead + "on: {e: [" +
            filled(
                "", [](int) { return "{if: x},"; }, "", 1'000) +
            "]}\nstates:\n",
        states_count, [](int i) { return "  " + (i == 0 ? "a" : "s" + number(i)) + ": {}\n"; }, "");
  };
  EXPECT_EQ(rows_in_states(kRowsMax / 1'000), "");
  EXPECT_EQ(rows_in_states(kRowsMax / 1'000 + 1), "too_many_rows ");
  const auto values = [](std::size_t count) {
    const std::size_t others = 21;  // keys and values of the machine around the list
    return ids_of(
        kSmall + "labels: {x: [", count - others, [](int) { return "1,"; }, "]}\n");
  };
  EXPECT_EQ(values(kFileValuesMax), "");
  EXPECT_EQ(values(kFileValuesMax + 1), "too_many_values ");
}

TEST(Limits, OfFindingsIsNamedByTheLastOne) {
  const auto findings = [](std::size_t count) {
    return ids_of(
        kSmall, count, [](int i) { return "k" + number(i) + ": 1\n"; }, "");
  };
  EXPECT_EQ(findings(2), "unknown_key unknown_key ");
  EXPECT_FALSE(findings(kFindingsMax - 1).ends_with("too_many_findings "));
  EXPECT_TRUE(findings(kFindingsMax + 1).ends_with("unknown_key too_many_findings "));
}

TEST(HostileFiles, AreReadInTime) {
  const Zones zones = *Zones::open();
  const char* only = std::getenv("PAWL_HOSTILE");
  for (const Hostile& file : hostile_files()) {
    if (only != nullptr && std::string(file.name).find(only) == std::string::npos) continue;
    const std::string text = file.text();
    ASSERT_LE(text.size(), kFileBytesMax) << file.name;
    const double begin = cpu_seconds();
    const ReadMachine read = read_machine(text, zones);
    const double taken = cpu_seconds() - begin;
    EXPECT_EQ(what_is_malformed(text, read), "") << file.name;
    EXPECT_LT(taken, kSecondsMax) << file.name;
    if (std::getenv("PAWL_COSTS") == nullptr) continue;
    std::printf("%8.1f ms %7zu bytes %6zu findings  %s\n", taken * 1e3, text.size(),
                read.findings.size(), file.name);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace pawl
