// The machine's zones, through date/tz.
//
// date/tz 3.0.1 reads the changes listed in the TZif files, which end in 2037, and then stands
// still. The files also end with a rule for ever after (a POSIX TZ string), which it ignores. So we
// take the listed changes from date/tz, go on with the rule for 400 years, and repeat those: the
// Gregorian calendar does, weekdays included.
#include "pawl/zones.h"

#include <date/tz.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

#include "base/nearest.h"
#include "base/text.h"
#include "calendar/civil.h"
#include "calendar/posix_tz.h"
#include "calendar/zone.h"

namespace pawl {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr const char* kDatabase = "/usr/share/zoneinfo/";

sys_seconds january_1(int year) {
  return sys_seconds{seconds{days_from_civil(year, 1, 1) * kSecondsPerDay}};
}

// Collects changes in order and leaves out those that change nothing.
class TableBuilder {
 public:
  explicit TableBuilder(std::string name) { table_.name = std::move(name); }

  void add(sys_seconds at, seconds offset, const std::string& abbreviation) {
    const std::uint16_t index = index_of(abbreviation);
    if (table_.changes.empty()) {
      at = ZoneSpan::kBegin;
    } else if (const Zone::Change& last = table_.changes.back();
               at <= last.at || (last.offset == offset && last.abbreviation == index)) {
      return;
    }
    table_.changes.push_back({at, offset, index});
  }

  sys_seconds last_at() const { return table_.changes.back().at; }

  Zone build(sys_seconds cycle_from) && {
    table_.cycle_from = cycle_from;
    return Zone(std::move(table_));
  }

 private:
  std::uint16_t index_of(const std::string& abbreviation) {
    auto& known = table_.abbreviations;
    const auto found = std::find(known.begin(), known.end(), abbreviation);
    if (found != known.end()) return static_cast<std::uint16_t>(found - known.begin());
    known.push_back(abbreviation);
    return static_cast<std::uint16_t>(known.size() - 1);
  }

  Zone::Table table_;
};

// The last line of a TZif file: its rule for ever after.
std::optional<PosixTz> rule_for_ever(const std::string& name) {
  std::ifstream file(kDatabase + name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 2 || bytes.back() != '\n') return std::nullopt;
  const std::size_t begin = bytes.rfind('\n', bytes.size() - 2);
  if (begin == std::string::npos) return std::nullopt;
  return parse_posix_tz(std::string_view(bytes).substr(begin + 1, bytes.size() - begin - 2));
}

void add_listed_changes(TableBuilder& builder, const date::time_zone& zone) {
  const date::sys_seconds end{january_1(kYearMax + 1).time_since_epoch()};
  date::sys_seconds at{january_1(1).time_since_epoch()};
  while (at < end) {
    const date::sys_info span = zone.get_info(at);
    builder.add(sys_seconds{at.time_since_epoch()}, span.offset, span.abbrev);
    at = span.end;
  }
}

// Returns the instant from which everything repeats every 400 years.
sys_seconds add_changes_for_ever(TableBuilder& builder, const PosixTz& rule) {
  const sys_seconds listed_until = builder.last_at();
  const int first_year =
      listed_until == ZoneSpan::kBegin
          ? 1
          : civil_from_days(floor_div(listed_until.time_since_epoch().count(), kSecondsPerDay))
                .year;
  constexpr int kCycleYears = 400;
  for (int year = first_year; year <= first_year + kCycleYears + 3; ++year) {
    for (const PosixChange& change : rule.changes_of(year)) {
      builder.add(change.at, change.to_dst ? rule.dst_offset : rule.standard_offset,
                  change.to_dst ? rule.dst_name : rule.standard_name);
    }
  }
  return january_1(first_year + 2);
}

Zone load(const date::time_zone& zone) {
  TableBuilder builder(zone.name());
  add_listed_changes(builder, zone);
  sys_seconds cycle_from = sys_seconds::max();
  if (const auto rule = rule_for_ever(zone.name()); rule && rule->has_dst()) {
    cycle_from = add_changes_for_ever(builder, *rule);
  }
  return std::move(builder).build(cycle_from);
}

std::string read_version(const date::tzdb& database) {
  std::ifstream file(std::string(kDatabase) + "tzdata.zi");
  std::string line;
  constexpr std::string_view kPrefix = "# version ";
  if (std::getline(file, line) && line.starts_with(kPrefix)) return line.substr(kPrefix.size());
  return database.version;
}

// Files beside the zones that say what this machine has been set to: an answer must not depend on
// it.
bool is_of_this_machine(const std::string& name) {
  return name == "localtime" || name == "posixrules";
}

// People often give the city alone: `Berlin` means Europe/Berlin.
std::string hint(std::string_view name, const std::vector<std::string>& names) {
  std::vector<std::string> near;
  const std::string city = to_lower(name.substr(name.rfind('/') + 1));
  for (const std::string& known : names) {
    if (to_lower(known.substr(known.rfind('/') + 1)) == city) near.push_back(known);
  }
  if (near.size() > 3) near.resize(3);
  if (near.empty()) near = nearest(name, names);
  if (near.empty()) return "; use an IANA name like Europe/Berlin, or UTC";
  return "; did you mean " + join(near, ", ", " or ") + "?";
}

}  // namespace

struct Zones::Loaded {
  const date::tzdb* database = nullptr;  // date/tz keeps it for the life of the process
  std::string version;
  std::vector<std::string> names;

  std::mutex mutex;
  std::map<std::string, Zone, std::less<>> zones;  // guarded by mutex
};

Result<Zones> Zones::open() {
  auto loaded = std::make_shared<Loaded>();
  try {
    loaded->database = &date::get_tzdb();
  } catch (const std::exception& reason) {
    std::string why = reason.what();
    why.erase(why.find_last_not_of('\n') + 1);
    return Error{ErrorCode::environment, std::string("cannot read the time zone database in ") +
                                             kDatabase + ": " + why +
                                             "; install the package tzdata"};
  }
  if (loaded->database->zones.empty()) {
    return Error{ErrorCode::environment, std::string("the time zone database in ") + kDatabase +
                                             " is empty; install the package tzdata"};
  }
  loaded->version = read_version(*loaded->database);
  for (const date::time_zone& zone : loaded->database->zones) {
    if (!is_of_this_machine(zone.name())) loaded->names.push_back(zone.name());
  }
  return Zones(std::move(loaded));
}

Result<Zone> Zones::find(std::string_view name) const {
  if (name == "UTC") return Zone::utc();
  const std::lock_guard lock(loaded_->mutex);
  if (const auto found = loaded_->zones.find(name); found != loaded_->zones.end())
    return found->second;
  for (const date::time_zone& zone : loaded_->database->zones) {
    if (zone.name() != name || is_of_this_machine(zone.name())) continue;
    try {
      return loaded_->zones.emplace(zone.name(), load(zone)).first->second;
    } catch (const std::exception& reason) {
      return Error{ErrorCode::environment, "cannot read the time zone " + zone.name() + ": " +
                                               reason.what() +
                                               "; install the package tzdata again"};
    }
  }
  return Error{ErrorCode::bad_input,
               "unknown time zone " + in_quotes(name) + hint(name, loaded_->names)};
}

std::vector<std::string> Zones::names() const { return loaded_->names; }

const std::string& Zones::tzdata_version() const { return loaded_->version; }

}  // namespace pawl
