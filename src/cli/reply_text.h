// Replies of the API as text for people.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// A member of a JSON map as it would be said: a text without its quotes, empty when it is not
// there. A path goes into maps: `hold.text`.
std::string said(std::string_view json, std::string_view path);

// The items of the reply's list.
std::vector<std::string> items_of(std::string_view json, std::string_view list = "items");

// What is wrong: of an error its message, of a refusal the reason, and on lines of their own the
// guards and what is permitted. Printable.
std::string problem_text(std::string_view reply);

// `2026-03-02 09:00:00`, from the text of an instant.
std::string short_time(const std::string& instant);

// Columns as wide as they need to be; the last one is not filled up. Printed as printable text.
void print_table(std::vector<std::vector<std::string>> rows, std::ostream& out);

// One line of a log: `2026-03-02 09:00:05  event pay: new -> paying`.
std::string entry_line(std::string_view entry);

// A record, a line a field.
void print_record(std::string_view record, std::ostream& out);

// Why it rests, in a few words: its hold, its error, its attempt.
std::string plight_of(std::string_view record);

}  // namespace pawl::cli
