#include "mutate_text.h"

#include <algorithm>
#include <vector>

namespace pawl {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

struct Span {
  std::size_t begin = 0;
  std::size_t size = 0;
};

// Some word of the text; empty when there is none near.
Span some_word(Draw& draw, const std::string& text) {
  std::size_t begin = draw.below(text.size());
  while (begin < text.size() && !is_word(text[begin])) ++begin;
  while (begin > 0 && begin < text.size() && is_word(text[begin - 1])) --begin;
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end - begin};
}

std::string with_other_lines(Draw& draw, const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  const std::size_t at = draw.below(lines.size());
  const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
  switch (draw.between(0, 4)) {
    case 0:
      lines.erase(place);
      break;
    case 1:
      lines.insert(place, std::string(lines[at]));
      break;
    case 2:
      std::swap(lines[at], lines[draw.below(lines.size())]);
      break;
    case 3:
      lines[at] = draw.of({" ", "  ", "    ", "\t"}) + lines[at];
      break;
    default:
      lines[at].erase(0, std::min(lines[at].find_first_not_of(' '), std::size_t{2}));
      break;
  }
  std::string joined;
  for (const std::string& line : lines) joined += line;
  return joined;
}

std::string with_other_word(Draw& draw, const std::string& text) {
  const Span word = some_word(draw, text);
  std::string with;
  if (draw.chance(50)) {
    const Span other = some_word(draw, text);
    with = text.substr(other.begin, other.size);
  } else {
    with = draw.of({"null",    "true",   "12",        "-1.5",        "{}",           "[]",
                    "[a, b]",  "{a: b}", "{data.x}",  "~",           "\"{data.x}\"", "\"{\"",
                    "''",      "0",      "5m",        "99999999999", "2026-01-01",   "&a x",
                    "*a",      "!t x",   "only",      "retry",       "later",        "children.x",
                    "default", "<<",     "\"a\\nb\"", "Panic",       "now",          "word: word"});
  }
  return std::string(text).replace(word.begin, word.size, with);
}

}  // namespace

std::string mutated(Draw& draw, const std::string& text) {
  if (text.empty()) return text;
  const std::size_t at = draw.below(text.size());
  switch (draw.between(0, 9)) {
    case 0:
      return text.substr(0, at);
    case 1: {
      std::string changed = text;
      changed[at] = static_cast<char>(draw.below(256));
      return changed;
    }
    case 2:
      return std::string(text).insert(
          at, draw.of({"{", "}", "[", "]", ":", ",", "'", "\"", "\n", " ", "#", "-", "\xff", "é",
                       "\xe2\x80\xa8", "\r", "\t", "\x01", "!"}));
    case 3:
      return std::string(text).erase(at, 1);
    case 4:
    case 5:
    case 6:
      return with_other_lines(draw, text);
    default:
      return with_other_word(draw, text);
  }
}

}  // namespace pawl
