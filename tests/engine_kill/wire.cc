#include "wire.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pawl::kill {
namespace {

Descriptor new_socket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

template <class Act>
bool with_address(const std::filesystem::path& socket, Act act) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = socket.string();
  if (name.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  return act(reinterpret_cast<const sockaddr*>(&address), socklen_t{sizeof address}) == 0;
}

void append_number(std::string& text, std::size_t number) {
  const auto given = static_cast<std::uint32_t>(number);
  text.append(reinterpret_cast<const char*>(&given), sizeof given);
}

bool read_all(const Descriptor& from, char* into, std::size_t size) {
  while (size > 0) {
    const ssize_t got = recv(from.number(), into, size, 0);
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::uint32_t> read_number(const Descriptor& from) {
  std::uint32_t number = 0;
  if (!read_all(from, reinterpret_cast<char*>(&number), sizeof number)) return std::nullopt;
  return number;
}

}  // namespace

Connect words_to(std::filesystem::path socket) {
  class WordsConnection final : public Connection {
   public:
    explicit WordsConnection(Descriptor to) : to_(std::move(to)) {}
    std::optional<Words> ask(const Words& words) override {
      errno = 0;
      auto answer = send_words(to_, words) ? receive_words(to_) : std::nullopt;
      if (!answer && is_time_up()) give_up("an answer to " + words.at(0));
      return answer;
    }

   private:
    Descriptor to_;
  };
  return [socket = std::move(socket)]() -> std::unique_ptr<Connection> {
    Descriptor to = connect_to(socket);
    return to ? std::make_unique<WordsConnection>(std::move(to)) : nullptr;
  };
}

void give_up(const std::string& waited_for) {
  std::fprintf(stderr, "engine_kill: waited %lld seconds for %s, in vain\n",
               static_cast<long long>(kPatience.count()), waited_for.c_str());
  std::_Exit(1);
}

void be_patient(const Descriptor& socket) {
  const timeval at_most{kPatience.count(), 0};
  setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &at_most, sizeof at_most);
  setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &at_most, sizeof at_most);
}

bool is_time_up() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINPROGRESS; }

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Descriptor listen_at(const std::filesystem::path& socket) {
  Descriptor made = new_socket();
  const bool is_bound = with_address(socket, [&](const sockaddr* address, socklen_t size) {
    return bind(made.number(), address, size);
  });
  if (!is_bound || listen(made.number(), 64) != 0) return {};
  return made;
}

Descriptor connect_to(const std::filesystem::path& socket) {
  Descriptor made = new_socket();
  be_patient(made);
  const bool is_there = with_address(socket, [&](const sockaddr* address, socklen_t size) {
    return connect(made.number(), address, size);
  });
  return is_there ? std::move(made) : Descriptor();
}

bool send_words(const Descriptor& to, const Words& words) {
  std::string text;
  append_number(text, words.size());
  for (const std::string& word : words) {
    append_number(text, word.size());
    text += word;
  }
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t some = send(to.number(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (some <= 0) return false;
    sent += static_cast<std::size_t>(some);
  }
  return true;
}

std::optional<Words> receive_words(const Descriptor& from) {
  const auto count = read_number(from);
  if (!count) return std::nullopt;
  Words words(*count);
  for (std::string& word : words) {
    const auto size = read_number(from);
    if (!size) return std::nullopt;
    word.resize(*size);
    if (!read_all(from, word.data(), word.size())) return std::nullopt;
  }
  return words;
}

}  // namespace pawl::kill
