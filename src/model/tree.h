// Node: a machine file as a tree that knows the line and column of everything in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/diagnostic.h"
#include "pawl/json.h"
#include "pawl/result.h"
#include "pawl/where.h"

namespace pawl {

// Limits of a machine file.
inline constexpr std::size_t kFileBytesMax = 1'048'576;
inline constexpr int kFileDepthMax = 64;
inline constexpr int kFileValuesMax = 200'000;  // keys included

struct Member;

// A value of the file. Numbers are kept as they were written, so that decimals stay exact.
struct Node {
  enum class Kind { null, boolean, number, text, list, map };

  Kind kind = Kind::null;
  Position at;
  std::string text;             // of a boolean, number or text
  bool quoted = false;          // a text in quotes or a block: never taken for a number or a word
  int text_column = 0;          // see Where
  bool block = false;           // see Where
  bool empty = false;           // a null that was not written: nothing stands after the colon
  bool flow = false;            // a list or map in [brackets] or {braces}
  std::vector<Node> items;      // of a list
  std::vector<Member> members;  // of a map, in the order of the file, each key once

  Where where() const { return {at, text_column, block}; }

  // The value of that key of a map, or null when there is none.
  const Node* find(std::string_view key) const;
};

struct Member {
  std::string key;
  Position key_at;
  Node value;
};

// Reads the strict subset of YAML that machine files are written in, or JSON, into a tree. Refused,
// each with its place: duplicate keys, anchors, aliases, tags, merge keys, directives, several
// documents, keys that are not words, bytes that are not UTF-8, and what is beyond the limits.
// Gives no tree only when the text cannot be read to its end.
std::optional<Node> read_tree(std::string_view text, Diagnostics& diagnostics);

// The same value as JSON.
Json to_json(const Node& node);

}  // namespace pawl
