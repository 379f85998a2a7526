// Machines: every version that a record may be of, and which one new records get.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decide/built_in.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/zones.h"
#include "store/store.h"

namespace pawl {

// The machine of a text that was stored under this version. Fails where it has an error.
Result<std::shared_ptr<const Machine>> read_stored_machine(const StoredMachine& stored,
                                                           const Zones& zones,
                                                           const Guards& guards);

class Machines {
 public:
  // Reads the newest version of each machine; older ones are read when a record is of them. The
  // store outlives it.
  static Result<Machines> open(Store& store, Zones zones, Guards guards);

  // The newest version; null when there is no such machine. Built-in ones are not among them.
  const Machine* newest(std::string_view name) const;
  std::shared_ptr<const Machine> newest_shared(std::string_view name) const;
  std::vector<std::string> names() const;

  // Of the record's version, also of a built-in machine.
  Result<std::shared_ptr<const Machine>> of(const Record& record);
  // Of the record that a create would make; null when there is no such machine.
  Result<std::shared_ptr<const Machine>> of_new(const Stimulus& create);

  // The one that a record will be of once something happens to it, as far as that can be said
  // beforehand: limits and queues of a newer version hold for those who wait.
  Result<std::shared_ptr<const Machine>> ahead_of(const Record& record);

  // One that was put into the store.
  void add(std::shared_ptr<const Machine> machine);

  const Zones& zones() const { return zones_; }
  const Guards& guards() const { return guards_; }

 private:
  Machines(Store& store, Zones zones, Guards guards);

  Result<std::shared_ptr<const Machine>> version(const std::string& name, int version);

  Store* store_;
  Zones zones_;
  Guards guards_;
  BuiltIns built_ins_;
  std::map<std::string, std::map<int, std::shared_ptr<const Machine>>, std::less<>> machines_;
};

}  // namespace pawl
