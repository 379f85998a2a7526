// A strict look at the header of a request, before a parser that forgives more than it should sees
// it. What proxies and servers read differently is how requests are smuggled.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pawl {

inline constexpr std::size_t kHeaderMax = 16U << 10U;
inline constexpr std::size_t kChunkExtensionMax = 256;

// Why the header, from its first byte to the blank line, is refused; none: it may be read on.
// Refused are: a line that goes on in the next, a line feed alone, blanks before a colon, control
// characters, no `Host` or two, a version but HTTP/1.0 and 1.1, and as to the length of the body:
// `Transfer-Encoding` other than exactly `chunked`, in HTTP/1.0, twice, or beside a
// `Content-Length`, which there is once, in digits.
std::optional<std::string> refused_header(std::string_view header);

}  // namespace pawl
