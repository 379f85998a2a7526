#include "cli/outlook_json.h"

#include "base/json_text.h"
#include "base/text.h"
#include "model/file_words.h"

namespace pawl::cli {
namespace {

using Texts = std::vector<std::string>;

std::string json_of(bool value) { return value ? "true" : "false"; }

std::string json_of(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "null";
}

std::string json_of(const std::optional<Duration>& duration) {
  return duration ? json_string(to_text(*duration)) : "null";
}

std::string json_of(const Between& between) {
  return "{\"least\":" + json_of(between.least) + ",\"most\":" + json_of(between.most) + "}";
}

std::string json_or_null(const std::string& text) {
  return text.empty() ? "null" : json_string(text);
}

template <class T, class ToJson>
std::string list_of(const std::vector<T>& all, ToJson to_json) {
  Texts texts;
  for (const T& each : all) texts.push_back(to_json(each));
  return "[" + join(texts, ",", ",") + "]";
}

std::string json_of_failed(const Outlook::Failed& failed) {
  return "{\"failure\":" + std::to_string(failed.failure) + ",\"waits\":" + json_of(failed.wait) +
         ",\"written\":" + json_or_null(failed.wait_text) +
         ",\"next_start\":" + json_of(failed.next_start) + "}";
}

std::string json_of_end(const Outlook::Run& run) {
  if (!run.last) return "null";
  return "{\"failure\":" + json_of(run.last) + ",\"after\":" + json_of(run.gives_up_after) + "}";
}

std::string json_of_run(const Outlook::Run& run) {
  return "{\"errors\":" + json_list(run.codes) + ",\"if\":" + json_or_null(run.condition) +
         ",\"own_delays\":" + json_of(run.own_delays) + ",\"later\":" + json_of(run.later) +
         ",\"transient\":" + json_of(run.transient) +
         ",\"failures\":" + list_of(run.failed, json_of_failed) +
         ",\"goes_on\":" + json_of(run.goes_on) +
         ",\"then_every\":" + (run.then_every ? json_of(*run.then_every) : "null") +
         ",\"gives_up\":" + json_of_end(run) + "}";
}

std::string json_of_give_up(const Outlook::End& end) {
  return "{\"elapsed\":" + json_or_null(end.elapsed) + ",\"failures\":" + json_of(end.failures) +
         ",\"comes_late\":" + json_of(end.comes_late) +
         ",\"over_rounds\":" + json_of(end.over_rounds) + ",\"if\":" + json_or_null(end.condition) +
         ",\"to\":" + json_or_null(end.to) + ",\"hold\":" + json_of(end.hold) +
         ",\"alert\":" + json_or_null(end.alert) +
         ",\"server_alert\":" + json_of(end.server_alert) +
         ",\"notifies\":" + json_list(end.notifies) + "}";
}

std::string json_of_align(const std::optional<Policy::Align>& align) {
  if (!align) return "null";
  return json_string(word_of(kAlignWords, *align));
}

}  // namespace

std::string json_list(const std::vector<std::string>& texts) {
  return list_of(texts, [](const std::string& text) { return json_string(text); });
}

std::string to_json(const Outlook& outlook) {
  return "{\"works\":" + json_of(outlook.works) + ",\"align\":" + json_of_align(outlook.align) +
         ",\"runs\":" + list_of(outlook.runs, json_of_run) +
         ",\"can_give_up\":" + json_of(outlook.can_give_up) +
         ",\"give_up\":" + list_of(outlook.ends, json_of_give_up) +
         ",\"stay\":" + json_of(outlook.stay) + ",\"through\":" + json_list(outlook.through) +
         ",\"unknown\":" + json_list(outlook.unknown) + "}";
}

}  // namespace pawl::cli
