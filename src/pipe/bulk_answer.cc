// An answer is read twice over: first into a list, checked against what was sent; then the list is
// handed out. So a body that ends early, or that some proxy made up, says nothing about any item.
//
// The two engines, and their versions, order keys differently, and an error is an object or, in old
// ones, a string. What an item comes to depends on its status; names of exceptions have changed
// more than once, and decide nothing but whether a 404 is the index that is missing.
#include "pipe/bulk_answer.h"

#include <curl/curl.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kReasonMax = 4'096;
constexpr std::size_t kMessageMax = 1'024;
constexpr std::size_t kCausesMax = 4;
// Room for more than so many bytes of an answer is given back when an answer needs less.
constexpr std::size_t kRoomKept = 4U << 20U;

// Between characters.
std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

// None where it is missing or no string.
std::string_view text_at(const dom::object& object, std::string_view key) {
  std::string_view text;
  return object.at_key(key).get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// What an `error` says. Old engines have a string for it: `IndexMissingException[[t] missing]`.
struct Said {
  std::string_view type = {};
  std::string_view reason = {};
};

// Reasons with their causes, one after the other, in room that does not move.
class Reasons {
 public:
  // What is put together is never longer than the text it comes from: a cause has more letters
  // there than the two that part it from the reason.
  void begin(std::size_t text_bytes) {
    text_.clear();
    text_bytes_ = text_bytes;
  }
  void release() { std::string().swap(text_); }

  Said read(const dom::element& error) {
    std::string_view text;
    if (error.get(text) == simdjson::SUCCESS)
      return {text.substr(0, text.find_first_of("[ ")), cut_text(text, kReasonMax)};
    dom::object object;
    if (error.get(object) != simdjson::SUCCESS) return {};
    return {text_at(object, "type"), reason_of(object)};
  }

 private:
  std::string_view reason_of(dom::object error) {
    const std::string_view first = text_at(error, "reason");
    dom::object cause;
    if (error.at_key("caused_by").get(cause) != simdjson::SUCCESS)
      return cut_text(first, kReasonMax);
    text_.reserve(text_bytes_);
    const std::size_t begin = text_.size();
    text_ += first;
    for (std::size_t depth = 0; depth < kCausesMax; ++depth) {
      const std::string_view why = text_at(cause, "reason");
      if (!why.empty() && text_.find(why, begin) == std::string::npos) {
        if (text_.size() > begin) text_ += ": ";
        text_ += why;
      }
      if (dom::object(cause).at_key("caused_by").get(cause) != simdjson::SUCCESS) break;
    }
    return cut_text(std::string_view(text_).substr(begin), kReasonMax);
  }

  std::string text_;
  std::size_t text_bytes_ = 0;
};

bool is_missing_index(std::string_view type) {
  return type == "index_not_found_exception" || type == "IndexMissingException" ||
         type == "IndexNotFoundException";
}

// None: a status that no item has.
std::optional<ItemAnswer::Kind> kind_of(std::string_view action, int status, bool has_error,
                                        std::string_view type) {
  using Kind = ItemAnswer::Kind;
  if (status == 200 || status == 201) {
    if (has_error) return std::nullopt;
    return Kind::indexed;
  }
  if (status == 404 && action == "delete" && !has_error) return Kind::indexed;
  if (status == 409) return Kind::duplicate;
  if (status == 408 || status == 429 || (status >= 500 && status <= 599)) return Kind::busy;
  if (status == 403 || (status == 404 && is_missing_index(type))) return Kind::blocked;
  if (status >= 400 && status <= 499) return Kind::refused;
  return std::nullopt;
}

// What one thread needs to read answers, one after the other.
class AnswerReader {
 public:
  Result<void> read(std::string& body, std::size_t sent,
                    const std::function<void(std::size_t, const ItemAnswer&)>& item) {
    if (parser_.capacity() > kRoomKept && body.size() <= kRoomKept) release();
    answers_.clear();
    reasons_.begin(body.size());
    const std::string_view wrong = collect_plain(body, sent) ? "" : collect(body, sent);
    if (!wrong.empty())
      return Error{ErrorCode::environment, "the response to a bulk request of " +
                                               counted(sent, "item") +
                                               " is invalid: " + std::string(wrong)};
    for (std::size_t at = 0; at < answers_.size(); ++at) item(at, answers_[at]);
    return {};
  }

 private:
  void release() {
    parser_ = dom::parser();
    std::vector<ItemAnswer>().swap(answers_);
    reasons_.release();
  }

  // Nearly every answer says of every item that it was taken, and of such a one the engines write
  // no more than this where no more is asked for. False, and nothing is collected: it has to be
  // parsed.
  bool collect_plain(std::string_view body, std::size_t sent) {
    if (!take(body, R"({"errors":false,"items":[)")) return false;
    answers_.reserve(sent);
    while (answers_.size() < sent) {
      const bool is_taken =
          (answers_.empty() || take(body, ",")) &&
          (take(body, R"({"index":{"status":20)") || take(body, R"({"create":{"status":20)")) &&
          (body.starts_with("0}}") || body.starts_with("1}}"));
      if (!is_taken) break;
      answers_.push_back({ItemAnswer::Kind::indexed, 200 + (body.front() - '0')});
      body.remove_prefix(3);
    }
    if (answers_.size() == sent && body == "]}") return true;
    answers_.clear();
    return false;
  }

  static bool take(std::string_view& text, std::string_view begin) {
    if (!text.starts_with(begin)) return false;
    text.remove_prefix(begin.size());
    return true;
  }

  // What is wrong, or nothing.
  std::string_view collect(std::string& body, std::size_t sent) {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    dom::element whole;
    if (const auto error = parser_.parse(body.data(), body.size(), false).get(whole))
      return simdjson::error_message(error);
    dom::object object;
    if (whole.get(object) != simdjson::SUCCESS) return "it is not an object";
    dom::array items;
    bool is_found = false;
    for (const auto& [key, value] : object) {
      if (key != "items") continue;
      if (std::exchange(is_found, true)) return "it has two lists of items";
      if (value.get(items) != simdjson::SUCCESS) return "its items are not a list";
    }
    if (!is_found) return "it has no items";
    answers_.reserve(sent);
    for (const dom::element& element : items) {
      if (answers_.size() == sent) return "it has too many items";
      if (!add(element)) return "it has an item of unknown form";
    }
    return answers_.size() == sent ? "" : "it has too few items";
  }

  // `{"index": {"status": 400, "error": {…}}}`, with whatever else there is.
  bool add(const dom::element& element) {
    dom::object outer;
    if (element.get(outer) != simdjson::SUCCESS || outer.size() != 1) return false;
    const dom::key_value_pair only = *outer.begin();
    if (only.key != "index" && only.key != "create" && only.key != "delete") return false;
    dom::object inner;
    if (only.value.get(inner) != simdjson::SUCCESS) return false;
    std::int64_t status = 0;
    dom::element error;
    bool has_error = false;
    for (const auto& [key, value] : inner) {
      if (key == "status") {
        if (status != 0 || value.get(status) != simdjson::SUCCESS) return false;
      } else if (key == "error" && !value.is_null()) {
        error = value;
        has_error = true;
      }
    }
    if (status < 100 || status > 999) return false;
    const Said said = has_error ? reasons_.read(error) : Said{};
    const auto kind = kind_of(only.key, static_cast<int>(status), has_error, said.type);
    if (!kind.has_value()) return false;
    answers_.push_back({*kind, static_cast<int>(status), said.type, said.reason});
    return true;
  }

  dom::parser parser_;
  std::vector<ItemAnswer> answers_;
  Reasons reasons_;
};

// What the body of a failure says, for people.
std::string said_by(std::string_view body) {
  dom::parser parser;
  dom::element whole;
  dom::element error;
  if (parser.parse(body.data(), body.size()).get(whole) != simdjson::SUCCESS ||
      whole.at_key("error").get(error) != simdjson::SUCCESS)
    return printable(cut_text(body, kMessageMax));
  if (error.is_string()) return printable(cut_text(std::string_view(error), kMessageMax));
  Reasons reasons;
  reasons.begin(body.size());
  const Said said = reasons.read(error);
  std::string text(cut_text(said.type, kMessageMax));
  if (!text.empty() && !said.reason.empty()) text += ": ";
  return printable(text.append(cut_text(said.reason, kMessageMax)));
}

// A proxy in between refuses too, but not because of a document.
bool is_of_search_engine(std::string_view body) {
  dom::parser parser;
  dom::element whole;
  dom::element error;
  return parser.parse(body.data(), body.size()).get(whole) == simdjson::SUCCESS &&
         whole.at_key("error").get(error) == simdjson::SUCCESS;
}

std::string_view hint_for(int status) {
  if (status == 413) return "the request is larger than the search engine accepts";
  if (status >= 300 && status <= 399) return "a redirect, which the pipe does not follow";
  return "no reason given";
}

std::string_view code_of_status(int status) {
  if (status == 429) return pipe_code::kEsBusy;
  if (status == 502 || status == 504) return pipe_code::kEsUnavailable;
  if (status >= 500 && status <= 599) return pipe_code::kEs5xx;
  return pipe_code::kEs4xx;
}

}  // namespace

Result<void> read_bulk_answer(std::string& body, std::size_t sent,
                              const std::function<void(std::size_t, const ItemAnswer&)>& item) {
  thread_local AnswerReader reader;
  return reader.read(body, sent, item);
}

BulkFailure failure_of_status(int status, std::string_view body,
                              std::optional<Duration> retry_after) {
  std::string said = said_by(body);
  if (said.empty()) said = hint_for(status);
  return {.code = code_of_status(status),
          .message = "the search engine answered " + std::to_string(status) + ": " +
                     std::string(cut_text(said, kMessageMax)),
          .bisect = status == 413 || (status == 400 && is_of_search_engine(body)),
          .status = status,
          .retry_after = retry_after};
}

BulkFailure failure_of_transfer(int code, std::string_view message) {
  constexpr int kUnreachable[] = {
      CURLE_COULDNT_RESOLVE_HOST,     CURLE_COULDNT_CONNECT,  CURLE_SSL_CONNECT_ERROR,
      CURLE_SSL_CERTPROBLEM,          CURLE_SSL_CIPHER,       CURLE_PEER_FAILED_VERIFICATION,
      CURLE_SSL_CACERT_BADFILE,       CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT};
  const bool is_unreachable =
      std::find(std::begin(kUnreachable), std::end(kUnreachable), code) != std::end(kUnreachable);
  return {.code = is_unreachable ? pipe_code::kEsUnavailable : pipe_code::kNetwork,
          .message = std::string(cut_text(message, kMessageMax))};
}

}  // namespace pawl
