// The header of a request, read strictly. What proxies and servers read differently is how requests
// are smuggled: whatever could be read in two ways is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kHeaderMax = 16U << 10U;

struct HttpHeader {
  std::string method;
  std::string target;  // as it was sent: the path and the query
  bool keeps_alive = true;
  bool expects_continue = false;
  bool is_chunked = false;
  std::uint64_t length = 0;  // of the body, unless it is chunked
  std::string authorization = {};
  std::string content_type = {};
  std::string last_event_id = {};
};

// Of the bytes from the first one to the blank line. Fails, with the reason, on: a line that goes
// on in the next, a line feed alone, blanks before a colon, control characters, no `Host`, a field
// that is read here and stands twice, a version but HTTP/1.0 and 1.1, and as to the length of the
// body: `Transfer-Encoding` other than exactly `chunked`, in HTTP/1.0 or beside a `Content-Length`,
// which is one number.
Result<HttpHeader> read_header(std::string_view header);

}  // namespace pawl
