// pawl bench, for a moment: what it says, and that it leaves alone what is not its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "cli/cli.h"
#include "tests/support/temporary_directory.h"

namespace pawl::cli {
namespace {

namespace fs = std::filesystem;

class Bench : public testing::Test {
 protected:
  struct Ran {
    ExitCode code;
    std::string out;
    std::string err;
  };

  static Ran run_bench(std::vector<std::string> more) {
    std::vector<std::string> arguments{"bench", "--seconds", "0.05"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = run(arguments, {out, err, [] { return Instant{}; }});
    return {code, out.str(), err.str()};
  }

  static std::vector<std::string> names_in(const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryDirectory directory_;
};

TEST_F(Bench, SaysWhatItMeasuredAsJson) {
  const Ran ran = run_bench({"--callers", "5", "--sleeping", "20", "--json"});
  ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_TRUE(check_json(ran.out)) << ran.out;
  EXPECT_TRUE(ran.out.starts_with(R"({"callers":5,"sleeping":20,"seconds":)")) << ran.out;
  for (const char* name : {"sqlite", "stimuli", "jobs_per_s", "stimuli_per_s", "mean_batch",
                           "answer_ms", "cpu_us", "write_bytes", "rss_mib"})
    EXPECT_NE(ran.out.find("\"" + std::string(name) + "\":"), std::string::npos) << ran.out;
}

TEST_F(Bench, SaysItInWords) {
  const Ran ran = run_bench({"--callers", "1", "--sleeping", "0"});
  ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("callers:  1, with 0 idle records, for ")) << ran.out;
  EXPECT_NE(ran.out.find("\nstimuli:  "), std::string::npos) << ran.out;
}

TEST_F(Bench, LeavesNothingBehindInATemporaryDirectory) {
  setenv("TMPDIR", directory_.path().c_str(), 1);
  const Ran ran = run_bench({"--sleeping", "3"});
  unsetenv("TMPDIR");
  EXPECT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_NE(ran.out.find(directory_.path().string()), std::string::npos) << ran.out;
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(Bench, KeepsTheSleepingRecordsForTheNextTime) {
  const fs::path kept = directory_.path() / "kept";
  EXPECT_EQ(run_bench({"--sleeping", "7", "--dir", kept}).code, ExitCode::ok);
  const std::vector<std::string> names{"pawl-bench", "sleeping-7"};
  EXPECT_EQ(names_in(kept), names);
  const auto seeded_at = fs::last_write_time(kept / "sleeping-7" / "tables.db");
  EXPECT_EQ(run_bench({"--sleeping", "7", "--dir", kept}).code, ExitCode::ok);
  EXPECT_EQ(names_in(kept), names);
  EXPECT_EQ(fs::last_write_time(kept / "sleeping-7" / "tables.db"), seeded_at);
}

TEST_F(Bench, LeavesADirectoryAloneThatIsNotItsOwn) {
  const std::string others = directory_.path() / "run";
  fs::create_directory(others);
  std::ofstream(others + "/tables.db") << "mine";
  const Ran ran = run_bench({"--dir", directory_.path()});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.err, "pawl: error: " + directory_.path().string() +
                         " was not made by `pawl bench`; choose a new or empty directory\n");
  EXPECT_EQ(names_in(directory_.path()), std::vector<std::string>{"run"});
  EXPECT_TRUE(fs::exists(others + "/tables.db"));
}

}  // namespace
}  // namespace pawl::cli
