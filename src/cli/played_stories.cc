#include "cli/played_stories.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "base/text.h"
#include "simulate/gantt.h"
#include "simulate/played_json.h"
#include "simulate/timeline.h"

namespace pawl::cli {
namespace {

std::string summary_of(const std::vector<PlayedStory>& stories) {
  const std::size_t passed = passed_of(stories);
  return counted(stories.size(), "scenario") + ": " + std::to_string(passed) + " passed, " +
         std::to_string(stories.size() - passed) + " failed";
}

std::string verdict_of(const Played& played) {
  return played.passed() ? "passed, " + counted(played.steps, "step")
                         : "failed, " + counted(played.problems.size(), "difference");
}

// Every line behind what Mermaid takes for a comment.
std::string as_comment(const std::string& text) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    out += "%% " + text.substr(begin, end + 1 - begin);
    begin = end + 1;
  }
  return out;
}

std::string problems_text(const PlayedStory& story) {
  std::string text;
  for (const Problem& problem : story.played.problems)
    text += to_text(problem, story.path, story.played.zone);
  return text;
}

}  // namespace

std::size_t passed_of(const std::vector<PlayedStory>& stories) {
  return static_cast<std::size_t>(
      std::count_if(stories.begin(), stories.end(),
                    [](const PlayedStory& story) { return story.played.passed(); }));
}

void print_timelines(const std::vector<PlayedStory>& stories, bool quiet, std::ostream& out) {
  for (const PlayedStory& story : stories) {
    const Played& played = story.played;
    out << printable(played.machine) << ": " << printable(played.title);
    if (quiet) {
      out << ": " << verdict_of(played) << '\n' << problems_text(story);
    } else {
      out << '\n' << to_timeline(played) << problems_text(story) << verdict_of(played) << "\n\n";
    }
  }
  out << summary_of(stories) << '\n';
}

void print_gantt(const std::vector<PlayedStory>& stories, std::ostream& out) {
  for (const PlayedStory& story : stories)
    out << to_gantt(story.played) << as_comment(problems_text(story))
        << as_comment(verdict_of(story.played) + "\n") << '\n';
  out << as_comment(summary_of(stories) + "\n");
}

void print_json(const std::vector<PlayedStory>& stories, bool gantt, std::ostream& out) {
  Json list = Json::list({});
  for (const PlayedStory& story : stories) {
    Json json = to_json(story.played);
    json.members.insert(json.members.begin(), {"file", story.path, {}});
    if (gantt) json.members.push_back({"gantt", to_gantt(story.played), {}});
    list.items.push_back(std::move(json));
  }
  const std::size_t passed = passed_of(stories);
  const auto number = [](std::size_t n) { return Json::number(std::to_string(n)); };
  out << to_text(Json::map({{"scenarios", std::move(list), {}},
                            {"passed", number(passed), {}},
                            {"failed", number(stories.size() - passed), {}}}))
      << '\n';
}

}  // namespace pawl::cli
