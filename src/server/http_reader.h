// HttpReader: requests out of bytes, however these are cut into pieces. It alone says where a
// request ends and the next begins; what it refuses ends the connection, and nothing behind it is
// ever read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/http_header.h"

namespace pawl {

inline constexpr std::size_t kChunkExtensionMax = 256;

class HttpReader {
 public:
  enum class State {
    idle,    // between two requests: no byte of the next has come
    header,  // more bytes are needed
    body,    // the same, and the header is known
    whole,   // there is a request to take
    refused  // for good
  };

  explicit HttpReader(std::size_t body_max) : body_max_(body_max) {}

  // Bytes that have come, unless there is a request to take.
  void add(std::string_view bytes);

  State state() const { return state_; }
  const HttpHeader& header() const { return header_; }  // of body and whole

  struct Request {
    HttpHeader header;
    std::string body;
  };
  // Of whole. Goes on with what came behind it.
  Request take();

  // Of refused: the id of the error, and why.
  struct Refusal {
    std::string_view id;
    std::string why;
  };
  const Refusal& refusal() const { return refusal_; }

 private:
  enum class Chunk { size, data, end, last };  // what comes next of a chunked body

  // False: it needs more bytes.
  bool step();
  bool step_header();
  bool step_length();
  bool step_chunk();
  bool step_chunk_size();
  bool step_chunk_end();
  bool refuse_body();
  bool refuse(std::string_view id, std::string why);
  std::string_view rest() const { return std::string_view(bytes_).substr(at_); }
  std::size_t move_to_body(std::size_t max);

  std::size_t body_max_;
  State state_ = State::idle;
  std::string bytes_;  // from at_ on they are not read
  std::size_t at_ = 0;
  HttpHeader header_;
  std::string body_;
  Chunk chunk_ = Chunk::size;
  std::size_t chunk_left_ = 0;
  Refusal refusal_;
};

}  // namespace pawl
