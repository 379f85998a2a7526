// Rows, and what they are made of, in English: `goes to `paid`, sets amount`.
#pragma once

#include <span>
#include <string>

#include "pawl/definition.h"

namespace pawl {

// The rows of one place: `if a: goes to `b`; else goes to `c``.
std::string text_of(std::span<const Row> rows);

// What a row does, without its condition.
std::string text_of(const Row& row);

std::string text_of(const EffectRow& effect);

// `10s, then 1m`; `10s, each time 2 times as long, at most 1h, without end`.
std::string text_of(const Delays& delays);

// As written.
std::string text_of(const DurationValue& duration);
std::string text_of(const Value& value);

}  // namespace pawl
