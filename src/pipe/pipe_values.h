// The values of a pipe's file that machine files do not have: sizes, topics, addresses, names of
// fields, secrets. Each reports what is wrong and then leaves `into` as it was.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/reader.h"
#include "outside/secret.h"
#include "pawl/time.h"

namespace pawl {

template <class T>
struct Bounds {
  T least;
  T most;
};

// A text that is not empty and has no control characters: C libraries end texts at a zero.
void read_plain_text(Reader& reader, const Node& node, std::string_view what, std::string& into);

// A whole number of bytes, or one with a unit: `65536`, `64KiB`, `4MiB`, `10MB`.
void read_size(Reader& reader, const Node& node, Bounds<std::size_t> range, std::size_t& into);

void read_span(Reader& reader, const Node& node, Bounds<Duration> range, Duration& into);

void read_topic(Reader& reader, const Node& node, std::string& into);

// `k1:9092,k2:9092`.
void read_brokers(Reader& reader, const Node& node, std::string& into);

// `https://es1:9200`, without path and credentials; a slash at the end is left out.
void read_node_url(Reader& reader, const Node& node, std::string& into);

// Never repeats what is no reference: it may be the secret.
void read_secret(Reader& reader, const Node& node, std::optional<Secret>& into);

// A field wherever it is: `geo.lat`. A field of the first level: `geo`.
bool check_path(Reader& reader, std::string_view text, Position at);
bool check_field(Reader& reader, std::string_view text, Position at);

// Whether there are few enough of them in that list or map.
bool check_field_count(Reader& reader, const Node& node);

// Each once. `check` is one of the above.
std::vector<Ref> read_field_list(Reader& reader, const Node& node,
                                 bool (*check)(Reader&, std::string_view, Position));

}  // namespace pawl
