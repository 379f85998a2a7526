// BulkBody: the text of a bulk request, with the place of each message's lines in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// Lines of one message: the action and, unless it is a delete, the document; each with its newline.
struct BulkItem {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t message = 0;  // its index in the batch
};

struct BulkBody {
  std::string text;
  std::vector<BulkItem> items;

  std::string_view lines(const BulkItem& item) const {
    return std::string_view(text).substr(item.begin, item.end - item.begin);
  }
  void clear() {
    text.clear();
    items.clear();
  }
};

}  // namespace pawl
