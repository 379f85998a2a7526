// DocumentEdit: fields of the first level renamed, left out and set, in JSON text that stays as it
// is everywhere else.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/expression/scratch.h"
#include "model/expression/sight.h"
#include "model/expression/value_program.h"
#include "pawl/result.h"
#include "pipe/pipe_config.h"

namespace pawl {

// Fields are renamed and dropped by the names they come with; what is set comes last, at the end,
// and replaces what has its name. Immutable.
class DocumentEdit {
 public:
  // The values of `set` see what `scope` says. Fails where two of the edits contradict each other,
  // and at what is wrong with a value.
  static Result<DocumentEdit> make(const TransformConfig& config, const Scope& scope);

  bool is_empty() const { return rename_.empty() && drop_.empty() && set_.empty(); }

  // Appends `sight.data`, which is a map, as it is afterwards. Fails when a value of `set` has
  // none, or when a field would be there twice.
  Result<void> apply(const Sight& sight, Scratch& scratch, std::string& out) const;

 private:
  struct Rename {
    std::string from;
    std::string to;
    std::string json;  // of `to`
  };
  struct Set {
    std::string name;
    std::string json;  // of the name
    std::shared_ptr<const ValueProgram> value;
  };

  DocumentEdit() = default;

  Result<void> add_renames(const TransformConfig& config);
  Result<void> add_sets(const TransformConfig& config, const Scope& scope);
  // How often each rename's new name was written is counted in `written`.
  Result<void> append_kept(std::string_view map, Scratch& scratch, std::string& written,
                           std::string& out) const;
  bool is_left_out(std::string_view name) const;

  std::vector<Rename> rename_;
  std::vector<std::string> drop_;
  std::vector<Set> set_;
};

}  // namespace pawl
