#include "api/metrics_text.h"

#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

namespace pawl {
namespace {

void append(std::string& out, double value) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), value);
  out.append(text, end.ptr);
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  out += out.back() == '{' ? "" : ",";
  out += name;
  out += "=\"";
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  out += '"';
}

}  // namespace

void MetricsText::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = "pawl_";
  name_ += name;
  head(name_, type, help);
}

void MetricsText::process(std::string_view name, std::string_view help, double value) {
  name_ = name;
  head(name_, "gauge", help);
  line({}, value);
}

void MetricsText::lines(LabelPairs labels, const Histogram& histogram) {
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i <= histogram.bounds().size(); ++i)
    counts.push_back(histogram.count_of(i));
  lines(labels, histogram.bounds(), counts, histogram.sum());
}

void MetricsText::lines(LabelPairs labels, std::span<const double> bounds,
                        std::span<const std::uint64_t> counts, double sum) {
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    up_to += counts[i];
    std::string bound;
    append(bound, bounds[i]);
    line("_bucket", labels, bound, as_number(up_to));
  }
  up_to += counts[bounds.size()];
  line("_bucket", labels, "+Inf", as_number(up_to));
  line("_sum", labels, {}, sum);
  line("_count", labels, {}, as_number(up_to));
}

void MetricsText::one(std::string_view name, std::string_view type, std::string_view help,
                      double value) {
  begin(name, type, help);
  line({}, value);
}

void MetricsText::one(std::string_view name, std::string_view help, const Histogram& histogram) {
  begin(name, "histogram", help);
  lines({}, histogram);
}

void MetricsText::head(std::string_view name, std::string_view type, std::string_view help) {
  ((out_ += "# HELP ") += name) += ' ';
  (out_ += help) += "\n# TYPE ";
  ((out_ += name) += ' ') += type;
  out_ += '\n';
}

void MetricsText::line(std::string_view ending, LabelPairs labels, std::string_view bound,
                       double value) {
  (out_ += name_) += ending;
  if (labels.size() > 0 || !bound.empty()) {
    out_ += '{';
    for (const LabelPair& label : labels) append_label(out_, label.name, label.value);
    if (!bound.empty()) append_label(out_, "le", bound);
    out_ += '}';
  }
  out_ += ' ';
  append(out_, value);
  out_ += '\n';
}

}  // namespace pawl
