// The verbs on a stopped store: what they say, and their exit codes.
#include <fstream>
#include <sstream>

#include "base/json_text.h"
#include "cli/cli.h"
#include "tests/store_sqlite/stored.h"

namespace pawl::cli {
namespace {

struct RanStore {
  ExitCode code;
  std::string out;
  std::string err;
};

class StoreVerbsTest : public StoredTest {
 protected:
  RanStore run_pawl(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const ExitCode code = run(arguments, {out, err, [] { return kEight; }});
    return {code, out.str(), err.str()};
  }

  std::string dir = directory.string();
  std::string copy = (temporary.path() / "copy").string();
  std::string file = (temporary.path() / "file").string();
};

TEST_F(StoreVerbsTest, VerifySaysThatAllIsWell) {
  const RanStore ran = run_pawl({"verify", dir});
  EXPECT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_EQ(ran.out, dir + ": ok, 2 records, 2 entries\n");
  EXPECT_EQ(run_pawl({"verify", dir, "--json"}).out,
            R"({"ok":true,"records":2,"entries":2,"violations":[]})"
            "\n");
}

TEST_F(StoreVerbsTest, VerifyNamesWhatIsWrong) {
  tamper(directory, "UPDATE slot SET taken = 3; DELETE FROM mark WHERE record = 2");
  const RanStore ran = run_pawl({"verify", dir});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.out,
            "mark: record 2: `mark` has no row for it: region \"eu\"\nI19: slot pay: 3 counted, 1 "
            "records hold it\n" +
                dir + ": 2 violations in 2 records, 2 entries\n");
  const RanStore json = run_pawl({"verify", dir, "--json"});
  EXPECT_EQ(json.code, ExitCode::wrong);
  EXPECT_TRUE(check_json(json.out)) << json.out;
}

TEST_F(StoreVerbsTest, DoctorSaysWhatToDo) {
  const RanStore good = run_pawl({"doctor", dir});
  EXPECT_EQ(good.code, ExitCode::ok) << good.out;
  EXPECT_NE(good.out.find("ok: version: SQLite "), std::string::npos) << good.out;
  EXPECT_NE(good.out.find("ok: store: last used 2026-03-02T08:00:00Z\n"), std::string::npos)
      << good.out;
  EXPECT_NE(good.out.find("ok: invariants: hold for 2 records and 2 entries\n"), std::string::npos)
      << good.out;
  tamper(directory, "UPDATE slot SET taken = 3");
  const RanStore bad = run_pawl({"doctor", dir});
  EXPECT_EQ(bad.code, ExitCode::wrong);
  EXPECT_NE(bad.out.find("problem: invariants: 1 violation, the first: I19: slot pay"),
            std::string::npos)
      << bad.out;
  EXPECT_NE(bad.out.find("  run `pawl verify` to list them; keep a copy"), std::string::npos)
      << bad.out;
  EXPECT_TRUE(check_json(run_pawl({"doctor", dir, "--json"}).out));
  tamper(directory, "PRAGMA user_version = 99");
  EXPECT_NE(run_pawl({"doctor", dir}).out.find("problem: store: "), std::string::npos);
}

TEST_F(StoreVerbsTest, ABackupIsRestored) {
  const RanStore backup = run_pawl({"backup", dir, file});
  EXPECT_EQ(backup.code, ExitCode::ok) << backup.err;
  EXPECT_TRUE(backup.out.starts_with(file + ": ")) << backup.out;
  const RanStore restored = run_pawl({"restore", file, copy});
  EXPECT_EQ(restored.code, ExitCode::ok) << restored.err;
  EXPECT_EQ(restored.out, copy +
                              ": 2 records, 2 entries, as of 2026-03-02T08:00:00Z; verified\n"
                              "1 attempt running at the time will be retried: the old leases are "
                              "void\n");
  EXPECT_EQ(run_pawl({"verify", copy}).code, ExitCode::ok);
  EXPECT_EQ(run_pawl({"restore", file, copy}).code, ExitCode::wrong);  // it is there already
  EXPECT_EQ(run_pawl({"backup", dir, file}).code, ExitCode::wrong);    // so is the file
}

TEST_F(StoreVerbsTest, AnExportIsImported) {
  EXPECT_EQ(run_pawl({"export", dir, file}).code, ExitCode::ok);
  std::ifstream in(file);
  EXPECT_EQ(run_pawl({"export", dir}).out, std::string(std::istreambuf_iterator<char>(in), {}));
  const RanStore imported = run_pawl({"import", file, copy, "--json"});
  EXPECT_EQ(imported.code, ExitCode::ok) << imported.err;
  EXPECT_EQ(imported.out, R"({"ok":true,"records":2,"entries":2,"void_leases":1,)"
                          R"("last_used":"2026-03-02T08:00:00Z","violations":[]})"
                          "\n");
  const RanStore again = run_pawl({"export", dir, file});
  EXPECT_EQ(again.code, ExitCode::wrong);
  EXPECT_EQ(again.err, "pawl: error: " + file + " already exists: name a new file\n");
  std::ofstream(file, std::ios::app) << "{}\n";
  EXPECT_EQ(run_pawl({"import", file, copy + "2"}).code, ExitCode::ok);  // what follows the end
  std::ofstream(file) << "{}\n";
  const RanStore bad = run_pawl({"import", file, copy + "3"});
  EXPECT_EQ(bad.code, ExitCode::wrong);
  EXPECT_EQ(bad.err, "pawl: " + file + ": error: line 1: this is not an export of Pawl\n");
}

// Names that no file can have, or that lead in circles.
TEST_F(StoreVerbsTest, StrangePathsAreErrors) {
  const std::string loop = (temporary.path() / "loop").string();
  std::filesystem::create_symlink(loop, loop);
  std::filesystem::create_symlink(loop, directory / "loop");
  EXPECT_EQ(run_pawl({"backup", dir, file}).code, ExitCode::ok);
  for (const std::string& strange : {std::string(), loop, std::string(300, 'x'), dir + "/none/x"}) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"backup", dir, strange},
          {"restore", file, strange},
          {"restore", strange, copy},
          {"import", strange, copy},
          {"import", file, strange},
          {"verify", strange},
          {"doctor", strange}}) {
      const RanStore ran = run_pawl(arguments);
      EXPECT_NE(ran.code, ExitCode::ok) << arguments[0] << " " << strange;
      EXPECT_TRUE(ran.err.starts_with("pawl: ")) << ran.err;
    }
  }
  EXPECT_EQ(run_pawl({"doctor", dir}).code, ExitCode::ok);
}

TEST_F(StoreVerbsTest, WhatIsNotThereOrInUseIsSaid) {
  const std::string none = (temporary.path() / "none").string();
  for (const char* verb : {"verify", "doctor", "export"})
    EXPECT_EQ(run_pawl({verb, none}).code, ExitCode::wrong) << verb;
  EXPECT_EQ(run_pawl({"backup", none, file}).err,
            "pawl: error: there is no directory " + none + "\n");
  EXPECT_EQ(run_pawl({"restore", none, copy}).code, ExitCode::environment);
  EXPECT_EQ(run_pawl({"import", none, copy}).code, ExitCode::environment);
  const auto store = must_open(directory);
  const RanStore ran = run_pawl({"verify", dir});
  EXPECT_EQ(ran.code, ExitCode::environment);
  EXPECT_NE(ran.err.find("is in use by process"), std::string::npos) << ran.err;
  const RanStore doctor = run_pawl({"doctor", dir});
  EXPECT_EQ(doctor.code, ExitCode::environment);
  EXPECT_NE(doctor.out.find("problem: store: " + dir + " is in use by process"), std::string::npos)
      << doctor.out;
}

// The user knows the file and the directory that were named, not where we work until it is done.
TEST_F(StoreVerbsTest, ADamagedFileIsNamed) {
  ASSERT_EQ(run_pawl({"backup", dir, file}).code, ExitCode::ok);
  const auto size = std::filesystem::file_size(file);
  for (const std::uintmax_t left : {std::uintmax_t{50}, std::uintmax_t{5'000}, size - 4'096}) {
    std::filesystem::resize_file(file, left);
    const RanStore ran = run_pawl({"restore", file, copy});
    EXPECT_EQ(ran.code, ExitCode::environment) << left;
    EXPECT_TRUE(ran.err.starts_with("pawl: error: " + file + " is ")) << ran.err;
    EXPECT_NE(ran.err.find("use another backup"), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find(copy + "."), std::string::npos) << ran.err;
    std::filesystem::remove(file);
    ASSERT_EQ(run_pawl({"backup", dir, file}).code, ExitCode::ok);
  }
  const std::string lines = run_pawl({"export", dir}).out;
  std::ofstream(file, std::ios::trunc) << lines.substr(0, lines.size() / 2);
  const RanStore ran = run_pawl({"import", file, copy});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_TRUE(ran.err.starts_with("pawl: " + file + ": error: line ")) << ran.err;
  EXPECT_EQ(ran.err.find(copy + "."), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(copy));
}

}  // namespace
}  // namespace pawl::cli
