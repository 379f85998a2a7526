// Surroundings: what is around the one record of a play, as an engine would keep it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/decide.h"

namespace pawl {

// Another record, whose parent is that of the play.
struct Child {
  RecordId id = {};
  std::string machine = {};
  std::string state = {};
  bool is_final = false;
  bool is_held = false;
};

class Surroundings {
 public:
  // Where records of the machines `part` and `item` begin.
  static constexpr const char* kFresh = "fresh";

  RecordId new_id() { return RecordId{next_id_++}; }
  TokenHash new_token();

  // A record that exists before the play and has no parent.
  void add_stranger(const std::string& machine, const std::string& key);

  // What `need` asks for.
  KnownRecord look_up(const std::string& machine, const std::string& key) const;

  // What is stored with the decision: records that effects make, the answer to the key.
  void commit(const Stimulus& stimulus, const Decision& decision);

  // What is stored under that key.
  std::optional<Remembered> remembered(const std::string& key) const;

  // Stimuli that were applied under a key.
  const std::vector<Stimulus>& keyed() const { return keyed_; }

  // Tokens given out so far, the latest last.
  const std::vector<TokenHash>& tokens() const { return tokens_; }

  std::vector<Child>& children() { return children_; }

  // The counts a parent should have, machines and states sorted.
  std::vector<ChildCounts> counts() const;

 private:
  void make(const Effect& effect, const Record& asker);

  std::uint64_t next_id_ = 1;
  std::map<std::pair<std::string, std::string>, KnownRecord> records_;
  std::map<std::string, Remembered> remembered_;
  std::vector<Stimulus> keyed_;
  std::vector<TokenHash> tokens_;
  std::vector<Child> children_;
};

}  // namespace pawl
