// MetricsText: the text format that Prometheus reads (0.0.4), one line after the other.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "pawl/figures.h"

namespace pawl {

struct LabelPair {
  std::string_view name;
  std::string_view value;
};
using LabelPairs = std::initializer_list<LabelPair>;

inline double as_number(std::uint64_t count) { return static_cast<double>(count); }

// What a metric is stands before the first of its lines.
class MetricsText {
 public:
  // `name` without `pawl_`.
  void begin(std::string_view name, std::string_view type, std::string_view help);
  // Of those whose names everybody has.
  void process(std::string_view name, std::string_view help, double value);

  void line(LabelPairs labels, double value) { line("", labels, {}, value); }
  void lines(LabelPairs labels, const Histogram& histogram);
  // Counts up to each bound and above the one before; the last: above all bounds.
  void lines(LabelPairs labels, std::span<const double> bounds,
             std::span<const std::uint64_t> counts, double sum);

  void one(std::string_view name, std::string_view type, std::string_view help, double value);
  void one(std::string_view name, std::string_view help, const Histogram& histogram);

  std::string take() { return std::move(out_); }

 private:
  void head(std::string_view name, std::string_view type, std::string_view help);
  void line(std::string_view ending, LabelPairs labels, std::string_view bound, double value);

  std::string out_;
  std::string name_;
};

}  // namespace pawl
