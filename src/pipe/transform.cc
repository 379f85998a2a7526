// A message becomes two lines of the body:
//
//   {"index":{"_index":"events","_id":"events-3-1234"}}
//   {"name":"login", …}
//
// The obvious way, to parse the value and to write it out again, takes longer than all the rest of
// the pipe. So nothing is built of it: QuickJson says of nearly every value that it is JSON, and
// where its fields are, and the parser is asked only about the others. What is sent is what came,
// copied once. Only a value with line breaks, which would end the line, is written without blanks,
// and one of which fields are renamed, dropped or set is put together from pieces of it.
//
// Where the action line does not depend on the document, it is written first. Else it is written
// when the document was read, over the line of the message before, which held its place: nearly
// always it is as long. What most messages of a batch have in common, the name of the index and the
// beginning of the id, is made once and copied.
#include "pipe/transform.h"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "base/json_fault.h"
#include "base/json_text.h"
#include "base/text.h"
#include "model/expression/json_scan.h"
#include "model/expression/path_checker.h"
#include "model/expression/program.h"
#include "pipe/date_pattern.h"
#include "pipe/document_edit.h"
#include "pipe/field_path.h"
#include "pipe/field_value.h"
#include "pipe/index_template.h"
#include "pipe/map_members.h"
#include "pipe/message_time.h"
#include "pipe/pipe_codes.h"
#include "pipe/quick_json.h"
#include "pipe/required_fields.h"

namespace pawl {
namespace {

using Id = TransformConfig::Id;
using Message = TransformConfig::Message;
using Op = TransformConfig::Op;
using Tombstone = TransformConfig::Tombstone;
using Outcome = Transform::Outcome;
using TemplatePart = IndexTemplate::Part;

constexpr std::size_t kIdBytesMax = 512;
constexpr std::size_t kDocumentBytesMost = 1U << 30U;
constexpr std::size_t kParserBytesKept = 4U << 20U;  // of a value; a bigger one's parser is let go
constexpr std::size_t kFaultBytesMax = 64U << 10U;   // of a value in which the fault is looked for
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error bad_at(const Where& at, std::string_view text, int column, std::string message) {
  Error error = bad_input(std::move(message));
  if (at.position.line > 0) error.position = at.inside(text, column);
  return error;
}

void append_integer(std::string& out, std::int64_t number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

std::string_view without_blanks(std::string_view text) {
  text = without_blanks_before(text);
  while (!text.empty() && is_json_blank(text.back())) text.remove_suffix(1);
  return text;
}

Outcome failed(std::string_view code, std::string reason) {
  return {Outcome::Kind::failed, code, std::move(reason)};
}

}  // namespace

struct Transform::Workbench::Inside {
  simdjson::dom::parser parser;
  MapMembers value;   // of the message, where that is a map
  MapMembers source;  // of a river
  Scratch scratch;
  std::vector<LastDate> dates;  // by part of the template
  std::string line;             // the last that was written
  std::string name;
  std::string edited;
  std::string room;
  std::string river_index;  // without escapes

  // What has grown with the value.
  void release() {
    parser = simdjson::dom::parser();
    value = MapMembers();
    source = MapMembers();
  }

  // Beginnings that were made last, and what they are made of.
  std::string opening;
  std::string opening_before;  // the name of the index
  std::string opening_name;
  std::string id_begin;
  std::string id_topic;
  std::int32_t id_partition = -1;
};

Transform::Workbench::Workbench() : inside_(std::make_unique<Inside>()) {}
Transform::Workbench::~Workbench() = default;
Transform::Workbench::Workbench(Workbench&&) noexcept = default;
Transform::Workbench& Transform::Workbench::operator=(Workbench&&) noexcept = default;

struct Transform::Inside {
  TransformConfig config;
  std::optional<IndexTemplate> index;  // none: only the message says it
  MessageTime time;
  FieldPath id_field;
  RequiredFields required;
  std::shared_ptr<const Program> drop_if;
  DocumentEdit edit;
  bool looks_at_clock = false;
  bool is_line_first = false;  // the action line does not depend on the document
  bool is_open = false;        // names of the template have to be checked
  std::string opening;         // of the action line, up to the name of the index
};

// Checks a configuration, part by part.
class Transform::Maker {
 public:
  explicit Maker(const TransformConfig& config) : config_(config) {}

  Result<Inside> make() {
    PAWL_TRY(auto time, MessageTime::make(config_.time));
    PAWL_TRY(auto index, index_template());
    PAWL_TRY(auto id_field, id());
    PAWL_TRY(auto required, RequiredFields::make(config_.require));
    PAWL_TRY(auto drop_if, condition());
    PAWL_TRY(auto edit, document_edit());
    PAWL_CHECK(check_tombstone(index));
    if (config_.document_bytes_max == 0 || config_.document_bytes_max > kDocumentBytesMost)
      return bad_input("the maximum size of a document must be from 1 byte to 1 GiB");
    Inside inside{.config = config_,
                  .index = std::move(index),
                  .time = std::move(time),
                  .id_field = std::move(id_field),
                  .required = std::move(required),
                  .drop_if = std::move(drop_if),
                  .edit = std::move(edit),
                  .looks_at_clock = looks_at_clock_};
    inside.is_line_first = is_line_first(inside);
    inside.is_open = inside.index && inside.index->is_open();
    inside.opening = opening(inside);
    return inside;
  }

 private:
  Error at_index(std::string message) const {
    return {ErrorCode::bad_input, std::move(message), config_.index_at};
  }

  Result<std::optional<IndexTemplate>> index_template() {
    if (config_.index.empty()) {
      if (config_.message == Message::river) return std::optional<IndexTemplate>{};
      return at_index("the index is missing; write its name, or a template like " +
                      std::string("events-{time:%Y.%m.%d}"));
    }
    auto index = IndexTemplate::parse(config_.index);
    if (!index) return at_index(index.error().message);
    if (index->has(TemplatePart::Kind::time) && config_.time.from == MessageTime::From::system) {
      looks_at_clock_ = true;
      if (!config_.allow_nondeterministic_index && config_.id.from != Id::From::none)
        return at_index(
            "an index by the system clock may put a repeated message into another index, as a "
            "second document; take the time from a field or from the message, or write "
            "`allow_nondeterministic_index: true`");
    }
    return std::optional(*std::move(index));
  }

  Result<FieldPath> id() const {
    if (config_.id.from != Id::From::field) return FieldPath();
    if (config_.id.field.empty()) return bad_input("`id` does not name a field");
    return FieldPath::parse(config_.id.field);
  }

  // Compiled without sight of the clock where that goes, so that it is known who looks at it.
  template <class Compile>
  auto compiled(Compile compile) {
    auto result = compile(Scope{.sees_record = false, .sees_now = false});
    if (result || !config_.allow_nondeterministic_index) return result;
    result = compile(Scope{.sees_record = false, .sees_now = true});
    if (result) looks_at_clock_ = true;
    return result;
  }

  Result<std::shared_ptr<const Program>> condition() {
    if (!config_.drop_if) return std::shared_ptr<const Program>{};
    const Expression& given = *config_.drop_if;
    auto program =
        compiled([&](const Scope& scope) { return Program::compile(given.text, scope); });
    const auto refused = [&](int column, const std::string& why) {
      return bad_at(given.at, given.text, column, "`drop_if`: " + why);
    };
    if (!program)
      return refused(program.error().position.value_or(Position{}).column, program.error().message);
    if (!(*program)->guard().empty()) {
      const std::string name((*program)->guard());
      const std::size_t at = given.text.find(name);
      return refused(static_cast<int>(at) + 1, unknown_name({.at = at, .name = name}).message);
    }
    const Type type = (*program)->type();
    if (type == Type::boolean || type == Type::any) return program;
    return refused(1, "a condition is true or false, not " + std::string(to_text(type)));
  }

  Result<DocumentEdit> document_edit() {
    return compiled([&](const Scope& scope) { return DocumentEdit::make(config_, scope); });
  }

  // What is to be erased has to be found again with nothing but the key.
  Result<void> check_tombstone(const std::optional<IndexTemplate>& index) const {
    if (config_.tombstone != Tombstone::erase) return {};
    if (config_.message == Message::river)
      return bad_input(
          "`tombstone: delete` does not work with `message: river`: a message without a value "
          "does not say which document to delete");
    if (config_.id.from != Id::From::key)
      return bad_input(
          "`tombstone: delete` needs `id: key`: a message without a value has nothing else");
    if (config_.op == Op::create)
      return bad_input("`tombstone: delete` does not work with `op: create`, which only adds");
    if (index && !index->has(TemplatePart::Kind::time) && !index->has(TemplatePart::Kind::field))
      return {};
    return at_index(
        "`tombstone: delete` needs an index that does not depend on the document or its time: a "
        "message without a value does not say where the document is");
  }

  bool is_line_first(const Inside& inside) const {
    if (config_.message == Message::river || config_.id.from == Id::From::field) return false;
    const bool by_field = inside.index->has(TemplatePart::Kind::time) &&
                          config_.time.from == MessageTime::From::field;
    return !by_field && !inside.index->has(TemplatePart::Kind::field);
  }

  std::string opening(const Inside& inside) const {
    std::string text =
        config_.op == Op::create ? R"({"create":{"_index":)" : R"({"index":{"_index":)";
    if (inside.is_line_first && inside.index->is_fixed())
      append_json_string(text, inside.index->parts()[0].text);
    return text;
  }

  const TransformConfig& config_;
  bool looks_at_clock_ = false;
};

// Appends one message.
class Transform::Appending {
 public:
  Appending(const Inside& inside, const SourceMessage& source, Instant now,
            Workbench::Inside& bench, std::string& text)
      : inside_(inside), source_(source), now_(now), bench_(bench), text_(text) {}

  Outcome run() {
    if (!source_.value) return tombstone();
    const std::size_t begin = text_.size();
    const bool is_line_written = inside_.is_line_first && write_line_first();
    if (!is_line_written) text_ += bench_.line;  // a place for it
    document_begin_ = text_.size();
    value_ = without_blanks(*source_.value);
    if (auto error = read_value()) return failed(pipe_code::kInvalidFormat, std::move(*error));
    if (auto error = find_document()) return failed(pipe_code::kInvalidEvent, std::move(*error));
    append_document();
    if (inside_.drop_if && is_dropped()) return {Outcome::Kind::skipped};
    if (auto checked = inside_.required.check(*document_); !checked)
      return failed(pipe_code::kInvalidEvent, std::move(checked).error().message);
    if (!is_line_written) {
      bench_.line.clear();
      if (auto line = write_line(bench_.line); !line) return transformation_error(line);
    }
    if (!inside_.edit.is_empty()) {
      if (auto edited = edit(); !edited) return transformation_error(edited);
    }
    const std::size_t bytes = text_.size() - document_begin_;
    if (bytes > inside_.config.document_bytes_max) return too_big(bytes);
    text_ += '\n';
    if (!is_line_written) text_.replace(begin, document_begin_ - begin, bench_.line);
    return {};
  }

 private:
  static Outcome transformation_error(Result<void>& result) {
    return failed(pipe_code::kTransformationError, std::move(result).error().message);
  }

  Outcome too_big(std::size_t bytes) const {
    return failed(pipe_code::kMessageTooBig, "the document has " + std::to_string(bytes) +
                                                 " bytes; the limit is " +
                                                 std::to_string(inside_.config.document_bytes_max));
  }

  Outcome tombstone() {
    switch (inside_.config.tombstone) {
      case Tombstone::skip:
        return {Outcome::Kind::skipped};
      case Tombstone::error:
        return failed(pipe_code::kInvalidEvent, "the message has no value (a tombstone)");
      case Tombstone::erase:
        break;
    }
    text_ += R"({"delete":{"_index":)";
    bench_.name.clear();
    auto done = write_index(bench_.name);
    if (done) done = append_name(text_, bench_.name, inside_.is_open);
    if (done) done = append_key(text_);
    if (!done) return transformation_error(done);
    append_version(text_);
    text_ += "}}\n";
    return {};
  }

  // The value.

  std::optional<std::string> read_value() {
    if (value_.empty()) return "the value is empty";
    if (value_.starts_with(kByteOrderMark))
      return "the value begins with a byte order mark, which JSON does not allow";
    if (bench_.parser.capacity() > kParserBytesKept && value_.size() <= kParserBytesKept)
      bench_.release();
    if (QuickJson::read(value_, bench_.parser, bench_.value) == QuickJson::Verdict::json)
      return std::nullopt;
    return parse_value();
  }

  // In the body, which has room for the value and for what the parser wants behind it.
  std::optional<std::string> parse_value() {
    text_.reserve(document_begin_ + value_.size() + simdjson::SIMDJSON_PADDING);
    text_.append(value_);
    const auto error =
        bench_.parser.parse(text_.data() + document_begin_, value_.size(), false).error();
    text_.resize(document_begin_);
    if (error != simdjson::SUCCESS) return fault_of(error);
    if (FieldValue(value_).is_map()) bench_.value.read(value_);
    return std::nullopt;
  }

  std::string fault_of(simdjson::error_code error) const {
    if (error == simdjson::DEPTH_ERROR)
      return "the value is nested too deeply: more than 1,024 levels";
    const bool is_text = is_utf8(value_);
    std::string fault = is_text ? "the value is not JSON" : "the value is not UTF-8";
    if (value_.size() > kFaultBytesMax) return fault;
    const auto at = find_json_fault(value_);
    if (!at && error == simdjson::NUMBER_ERROR)
      return "the value contains a number out of range: integers have 64 bits, decimals an "
             "exponent up to 308";
    if (!at) return fault + ": " + simdjson::error_message(error);
    fault += ": line " + std::to_string(at->line) + ", column " + std::to_string(at->column);
    return is_text ? fault + " of " + shown(value_) : fault;
  }

  // In JSON there are line breaks only between things.
  void append_document() {
    const std::string_view map = document_->map();
    text_.append(map);
    if (std::memchr(value_.data(), '\n', value_.size()) == nullptr) return;
    std::size_t length = 0;
    const auto error =
        simdjson::minify(map.data(), map.size(), text_.data() + document_begin_, length);
    PAWL_ASSERT(error == simdjson::SUCCESS, "what was read has no open text");
    text_.resize(document_begin_ + length);
  }

  std::string_view document_text() const { return std::string_view(text_).substr(document_begin_); }

  // The document.

  std::optional<std::string> find_document() {
    if (const FieldValue value(value_); !value.is_map())
      return "the value is " + shown(value) + "; it must be a map";
    return inside_.config.message == Message::river ? find_source() : std::nullopt;
  }

  std::optional<std::string> find_source() {
    const auto source = river_field("source");
    if (!source) return "the field `source` is missing; it holds the document of a river message";
    if (!source->is_map()) return "the field `source` is " + shown(*source) + "; it must be a map";
    if (auto fault = find_index()) return fault;
    if (auto fault = find_id()) return fault;
    bench_.source.read(source->json());
    document_ = &bench_.source;
    return std::nullopt;
  }

  std::optional<FieldValue> river_field(std::string_view name) const {
    const auto value = bench_.value.find(name);
    return value ? std::optional(FieldValue(*value)) : std::nullopt;
  }

  std::optional<std::string> find_index() {
    const auto value = river_field("index");
    const bool is_there = value && !value->is_null();
    if (!is_there && inside_.index) return std::nullopt;
    if (!is_there) return "the field `index` is missing; a river message needs it";
    if (!value->is_text()) return "the field `index` is " + shown(*value) + "; it must be a text";
    river_index_ = value->text(bench_.river_index);
    return std::nullopt;
  }

  std::optional<std::string> find_id() {
    const auto value = river_field("id");
    if (!value || value->is_null()) return std::nullopt;
    if (!value->is_text() && value->kind() != FieldValue::Kind::whole)
      return "the field `id` is " + shown(*value) + "; it must be a text or a whole number";
    river_id_ = value;
    return std::nullopt;
  }

  Sight sight() const { return {.data = document_text(), .now = now_}; }

  bool is_dropped() {
    bench_.scratch.clear();
    return inside_.drop_if->holds(sight(), bench_.scratch);
  }

  Result<void> edit() {
    bench_.scratch.clear();
    bench_.edited.clear();
    PAWL_CHECK(inside_.edit.apply(sight(), bench_.scratch, bench_.edited));
    text_.resize(document_begin_);
    text_ += bench_.edited;
    return {};
  }

  // The action line.

  // False, and nothing is written, when it cannot be; why is said when all else was found right.
  bool write_line_first() {
    const std::size_t begin = text_.size();
    if (write_line(text_)) return true;
    text_.resize(begin);
    return false;
  }

  Result<void> write_line(std::string& line) {
    if (inside_.is_line_first && inside_.index->is_fixed()) {
      line += inside_.opening;
    } else if (river_index_) {
      line += inside_.opening;
      PAWL_CHECK(append_name(line, *river_index_, true));
    } else {
      PAWL_CHECK(make_opening());
      line += bench_.opening;
    }
    PAWL_CHECK(append_id(line));
    line += "}}\n";
    return {};
  }

  // With the name that the template gives, which most have from the message before.
  Result<void> make_opening() {
    bench_.name.clear();
    PAWL_CHECK(write_index(bench_.name));
    if (bench_.name == bench_.opening_name && inside_.opening == bench_.opening_before) return {};
    bench_.opening_before.clear();  // is nobody's, should the name be refused
    bench_.opening = inside_.opening;
    PAWL_CHECK(append_name(bench_.opening, bench_.name, inside_.is_open));
    bench_.opening_before = inside_.opening;
    bench_.opening_name = bench_.name;
    return {};
  }

  static Result<void> append_name(std::string& line, std::string_view name, bool is_checked) {
    if (is_checked) {
      if (const auto fault = index_fault(name))
        return bad_input("the index " + shown(name) + " is not a valid index name: it " + *fault);
    }
    append_json_string(line, name);
    return {};
  }

  Result<void> write_index(std::string& name) {
    const auto& parts = inside_.index->parts();
    if (bench_.dates.size() < parts.size()) bench_.dates.resize(parts.size());
    std::optional<Instant> at;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const TemplatePart& part = parts[i];
      switch (part.kind) {
        case TemplatePart::Kind::text:
          name += part.text;
          break;
        case TemplatePart::Kind::topic:
          name += source_.topic;
          break;
        case TemplatePart::Kind::partition:
          append_integer(name, source_.partition);
          break;
        case TemplatePart::Kind::field:
          PAWL_CHECK(append_field(name, part.field, "the index"));
          break;
        case TemplatePart::Kind::time:
          if (!at) {
            PAWL_TRY(at, inside_.time.read(source_, *document_, now_, bench_.room));
          }
          name += bench_.dates[i].write(*part.date, *at);
          break;
      }
    }
    return {};
  }

  Result<void> append_field(std::string& out, const FieldPath& field, std::string_view whose) {
    const auto value = field.find(*document_);
    if (!value || value->is_null())
      return bad_input("the field " + in_ticks(field.text()) +
                       (value ? " is null" : " is missing") + "; " + std::string(whose) +
                       " depends on it");
    if (value->append_plain_to(out)) return {};
    return bad_input("the field " + in_ticks(field.text()) + " is " + shown(*value) + "; " +
                     std::string(whose) + " needs a text or a whole number");
  }

  Result<void> append_id(std::string& line) {
    if (river_id_) {
      bench_.name.clear();
      river_id_->append_plain_to(bench_.name);
      PAWL_CHECK(append_checked_id(line, bench_.name));
    } else {
      switch (inside_.config.id.from) {
        case Id::From::none:
          return {};
        case Id::From::offset:
          append_offset_id(line);
          return {};
        case Id::From::key:
          PAWL_CHECK(append_key(line));
          break;
        case Id::From::field:
          bench_.name.clear();
          PAWL_CHECK(append_field(bench_.name, inside_.id_field, "the id"));
          PAWL_CHECK(append_checked_id(line, bench_.name));
          break;
      }
    }
    // With `create` an external version makes the search engine refuse the whole request.
    if (inside_.config.op == Op::index) append_version(line);
    return {};
  }

  // `events-3-1234`
  void append_offset_id(std::string& line) {
    if (bench_.id_begin.empty() || bench_.id_partition != source_.partition ||
        bench_.id_topic != source_.topic)
      make_id_begin();
    line += bench_.id_begin;
    append_integer(line, source_.offset);
    line += '"';
  }

  void make_id_begin() {
    bench_.id_topic = source_.topic;
    bench_.id_partition = source_.partition;
    std::string& begin = bench_.id_begin;
    begin = R"(,"_id":)";
    append_json_string(begin, source_.topic);
    begin.back() = '-';  // for the quote
    append_integer(begin, source_.partition);
    begin += '-';
  }

  Result<void> append_key(std::string& line) {
    if (!source_.key) return bad_input("the message has no key, which the id is taken from");
    if (!is_utf8(*source_.key))
      return bad_input("the key, which the id is taken from, is not UTF-8");
    return append_checked_id(line, *source_.key);
  }

  static Result<void> append_checked_id(std::string& line, std::string_view id) {
    if (id.empty()) return bad_input("the id is empty");
    if (!is_utf8(id)) return bad_input("the id is not UTF-8");
    if (id.size() > kIdBytesMax)
      return bad_input("the id " + shown(id) + " has " + std::to_string(id.size()) +
                       " bytes; the search engine accepts " + std::to_string(kIdBytesMax));
    line += R"(,"_id":)";
    append_json_string(line, id);
    return {};
  }

  // An older message that comes again does not replace a newer one of the same id.
  void append_version(std::string& line) const {
    line += R"(,"version":)";
    append_integer(line, source_.offset);
    line += R"(,"version_type":"external_gte")";
  }

  const Inside& inside_;
  const SourceMessage& source_;
  Instant now_;
  Workbench::Inside& bench_;
  std::string& text_;

  std::string_view value_;  // without the blanks around it
  std::size_t document_begin_ = 0;
  const MapMembers* document_ = &bench_.value;  // or that of a river
  std::optional<std::string_view> river_index_;
  std::optional<FieldValue> river_id_;
};

Transform::Transform(std::unique_ptr<const Inside> inside) : inside_(std::move(inside)) {}
Transform::~Transform() = default;

Result<std::shared_ptr<const Transform>> Transform::make(const TransformConfig& config) {
  PAWL_TRY(auto inside, Maker(config).make());
  return std::shared_ptr<const Transform>(
      new Transform(std::make_unique<const Inside>(std::move(inside))));
}

Outcome Transform::append(const SourceMessage& source, std::uint32_t message, Instant now,
                          Workbench& workbench, BulkBody& body) const {
  const std::size_t begin = body.text.size();
  Outcome outcome = Appending(*inside_, source, now, *workbench.inside_, body.text).run();
  if (outcome.kind == Outcome::Kind::appended) {
    PAWL_ASSERT(body.text.size() <= 0xffff'ffffU, "a body has less than 4 GiB");
    body.items.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(body.text.size()), message});
  } else {
    body.text.resize(begin);
  }
  return outcome;
}

bool Transform::is_repeatable() const {
  return !inside_->looks_at_clock && inside_->config.id.from != Id::From::none;
}

}  // namespace pawl
