// Zones: the machine's time zone database, read through date/tz; each zone is loaded once and is a
// value from then on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

class Zone;

// Safe to use from several threads; copies share what is loaded.
class Zones {
 public:
  // Fails with `environment` when the machine has no time zone database.
  static Result<Zones> open();

  // The zone of that IANA name. An unknown name is an error that lists the nearest ones.
  Result<Zone> find(std::string_view name) const;

  // All names, sorted.
  std::vector<std::string> names() const;

  // The release of the database, e.g. `2026f`.
  const std::string& tzdata_version() const;

 private:
  struct Loaded;
  explicit Zones(std::shared_ptr<Loaded> loaded) : loaded_(std::move(loaded)) {}

  std::shared_ptr<Loaded> loaded_;
};

}  // namespace pawl
