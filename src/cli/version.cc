// pawl version: what this binary is and what it stands on.
#include <date/date.h>
#include <simdjson.h>
#include <sqlite3.h>
#include <CLI/Version.hpp>

#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "calendar/zone.h"
#include "cli/verb.h"
#include "pawl/zones.h"

namespace pawl::cli {
namespace {

std::string compiler() {
#ifdef __clang__
  return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
  return "gcc " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

std::vector<std::pair<std::string, std::string>> dependencies() {
  return {{"cli11", CLI11_VERSION},
          {"date", PAWL_DATE_VERSION},
          {"simdjson", SIMDJSON_STRINGIFY(SIMDJSON_VERSION)},
          {"sqlite", sqlite3_libversion()}};
}

ExitCode version(bool json, const Surroundings& surroundings) {
  const auto zones = Zones::open();
  if (!zones) return report(zones.error(), "", "", surroundings.err);
  std::ostream& out = surroundings.out;
  if (!json) {
    out << "pawl " << PAWL_VERSION << " (" << compiler() << ")\n";
    for (const auto& [name, number] : dependencies()) out << "  " << name << ' ' << number << '\n';
    out << "  tzdata " << zones->tzdata_version() << '\n';
    return ExitCode::ok;
  }
  out << "{\"pawl\":" << json_string(PAWL_VERSION) << ",\"compiler\":" << json_string(compiler())
      << ",\"dependencies\":{";
  const char* comma = "";
  for (const auto& [name, number] : dependencies()) {
    out << comma << json_string(name) << ':' << json_string(number);
    comma = ",";
  }
  out << "},\"tzdata\":" << json_string(zones->tzdata_version()) << "}\n";
  return ExitCode::ok;
}

}  // namespace

void add_version(Command& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  Command* verb = app.add_subcommand(
      "version", "Show the version of Pawl, its libraries and its time zone data");
  verb->add_flag("--json", *json, "print one JSON object");
  verb->callback([json, &action] {
    action = [json](const Surroundings& surroundings) { return version(*json, surroundings); };
  });
}

}  // namespace pawl::cli
