// Transform: from a message to the lines of a bulk request, or to what is wrong with it.
//
// In this order: the value is JSON (else invalid_format); it is a map, and a river has its parts
// (invalid_event); `drop_if` does not drop it; it has the required fields (invalid_event); it has
// an index and an id, and can be edited (transformation_error); it is not too big
// (message_too_big). Fields are looked for in the document as it came, before it is edited.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/result.h"
#include "pawl/time.h"
#include "pipe/bulk_body.h"
#include "pipe/pipe_config.h"
#include "pipe/source_message.h"

namespace pawl {

// Immutable: threads may use it at once, each with a workbench of its own. The same message always
// gives the same bytes, unless the file allows an index that depends on the clock.
class Transform {
 public:
  // Room that is used again and again by one thread: the parser, texts being built.
  class Workbench {
   public:
    Workbench();
    ~Workbench();
    Workbench(Workbench&&) noexcept;
    Workbench& operator=(Workbench&&) noexcept;

   private:
    friend class Transform;
    struct Inside;
    std::unique_ptr<Inside> inside_;
  };

  struct Outcome {
    enum class Kind {
      appended,  // one item more
      skipped,   // nothing is to be done: `drop_if`, a tombstone that is skipped
      failed,
    };
    Kind kind = Kind::appended;
    std::string_view code = {};  // of pipe_code, of what failed
    std::string reason = {};  // for people; names places and types, and quotes at most a few bytes
  };

  // Fails with the position of what is wrong in the file.
  static Result<std::shared_ptr<const Transform>> make(const TransformConfig& config);
  ~Transform();

  // Appends the lines of one message to the body, as the item of `message`; leaves the body as it
  // was unless it says `appended`. `now` is looked at only where the clock is allowed.
  Outcome append(const SourceMessage& source, std::uint32_t message, Instant now,
                 Workbench& workbench, BulkBody& body) const;

  // Whether a message that comes again gives the same document under the same id in the same index.
  // Not so: documents without id, an index by the clock, a value that looks at the clock.
  bool is_repeatable() const;

 private:
  class Maker;
  class Appending;
  struct Inside;
  explicit Transform(std::unique_ptr<const Inside> inside);
  std::unique_ptr<const Inside> inside_;
};

}  // namespace pawl
