#include "cli/serve_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/documents.h"
#include "base/json_text.h"
#include "decide/json_edit.h"

namespace pawl::cli {
namespace {

using Level = ServeLog::Level;

constexpr std::array<std::string_view, 3> kLevels{"info", "warn", "error"};

// What a reader of `name=value` need not be told the end of.
bool is_plain(std::string_view text) {
  return !text.empty() && is_plain_json(text) && text.find(' ') == std::string_view::npos &&
         text.find('=') == std::string_view::npos;
}

std::string number(std::int64_t value) { return std::to_string(value); }

}  // namespace

ServeLog::ServeLog(std::ostream& out, std::mutex& output, Format format, Level level)
    : out_(out), output_(output), format_(format), level_(level), thread_([this] { run(); }) {}

ServeLog::~ServeLog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ServeLog::write(Level level, Instant at, std::string_view what,
                     const std::vector<Field>& fields) {
  if (level < level_) return;
  std::string text = line(level, at, what, fields);
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kWaitingMax) {
    ++left_out_;
    return;
  }
  waiting_.push_back(std::move(text));
  changed_.notify_one();
}

std::string ServeLog::line(Level level, Instant at, std::string_view what,
                           const std::vector<Field>& fields) const {
  const std::string_view word = kLevels[static_cast<std::size_t>(level)];
  std::string text;
  if (format_ == Format::json) {
    JsonMap map(text);
    map.text("at", to_text(at));
    map.text("level", word);
    map.text("event", what);
    for (const Field& field : fields)
      if (field.is_number) {
        map.json(field.name, field.value);
      } else {
        map.text(field.name, field.value);
      }
    return text;
  }
  text = to_text(at);
  ((text += ' ') += word) += ' ';
  text += what;
  for (const Field& field : fields) {
    ((text += ' ') += field.name) += '=';
    text += field.is_number || is_plain(field.value) ? field.value : json_string(field.value);
  }
  return text;
}

void ServeLog::write(const Notice& notice) {
  std::vector<Field> fields;
  if (notice.kind == Notice::Kind::slow_commit) {
    fields = {{"units", std::to_string(notice.units), true}, {"took", to_text(notice.took)}};
    return write(Level::warn, notice.at, "slow_commit", fields);
  }
  if (notice.kind > Notice::Kind::slow_commit) return write_deed(notice);
  fields = {{"record", notice.machine + "/" + notice.key}, {"state", notice.state}};
  if (notice.kind == Notice::Kind::hold) {
    fields.push_back({"code", notice.code});
    return write(Level::warn, notice.at, "hold", fields);
  }
  fields.push_back({"attempt", number(notice.attempt), true});
  if (notice.max) fields.push_back({"max", number(*notice.max), true});
  if (notice.next_at) fields.push_back({"delay", to_text(*notice.next_at - notice.at)});
  fields.push_back({"error", notice.code});
  fields.push_back({"fingerprint", fingerprint_text(notice.fingerprint)});
  if (notice.next_at) fields.push_back({"next_at", to_text(*notice.next_at)});
  if (notice.kind == Notice::Kind::gave_up) return write(Level::warn, notice.at, "gave_up", fields);
  write(Level::info, notice.at, notice.kind == Notice::Kind::later ? "later" : "retry", fields);
}

// What somebody has done, and who.
void ServeLog::write_deed(const Notice& notice) {
  using Kind = Notice::Kind;
  const Field actor{"actor", notice.actor};
  switch (notice.kind) {
    case Kind::applied:
      return write(Level::info, notice.at, "applied",
                   {{"machine", notice.machine}, {"version", number(notice.version), true}, actor});
    case Kind::paused:
      return write(Level::warn, notice.at, "paused", {{"what", notice.subject}, actor});
    case Kind::pause_ended:
      return write(Level::info, notice.at, "pause_ended", {{"what", notice.subject}, actor});
    case Kind::token_made:
      return write(Level::info, notice.at, "token_made", {{"token", notice.subject}, actor});
    case Kind::clock_moved:
      return write(Level::info, notice.at, "clock_moved", {{"to", notice.subject}, actor});
    default:
      return write(Level::info, notice.at, "token_revoked", {{"token", notice.subject}, actor});
  }
}

void ServeLog::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::deque<std::string> lines = std::exchange(waiting_, {});
    const std::uint64_t left_out = std::exchange(left_out_, 0);
    lock.unlock();
    {
      const std::lock_guard writes(output_);
      for (const std::string& one : lines) out_ << one << '\n';
      if (left_out > 0)
        out_ << line(Level::warn, std::chrono::floor<Duration>(std::chrono::system_clock::now()),
                     "lines_left_out", {{"lines", std::to_string(left_out), true}})
             << '\n';
      out_ << std::flush;
    }
    lock.lock();
  }
}

}  // namespace pawl::cli
