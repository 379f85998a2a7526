// JSON as text: writing strings, reading a document to check it.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

// The text as a JSON string, with its quotes. Invalid UTF-8 becomes U+FFFD, so that the result is
// always JSON.
std::string json_string(std::string_view text);
void append_json_string(std::string& out, std::string_view text);

// Whether the text, in quotes, is its own JSON string: ASCII without what needs an escape.
bool is_plain_json(std::string_view text);

bool is_utf8(std::string_view text);

// Fails with the reason unless the whole text is one JSON value in UTF-8.
Result<void> check_json(std::string_view text);

}  // namespace pawl
