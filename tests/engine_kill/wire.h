// What passes between the process that is killed and those who ask it: lists of words over a Unix
// socket, one list there and one back.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::kill {

using Words = std::vector<std::string>;

// Nothing takes so long, the longest wait that is asked for included: what does hangs.
inline constexpr std::chrono::seconds kPatience{120};
// Says what was waited for, and ends this process, with which the others die.
[[noreturn]] void give_up(const std::string& waited_for);

// A socket or a file that is closed with its owner, and by exec.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// What is sent and received there from now on, and a connection that is made, gives up like this.
void be_patient(const Descriptor& socket);
// Whether the last call on such a socket has failed because its time was up.
bool is_time_up();

// None that is open when it cannot be had.
Descriptor listen_at(const std::filesystem::path& socket);
Descriptor connect_to(const std::filesystem::path& socket);

// Where one asks the process that is killed, and is answered. For one thread.
class Connection {
 public:
  virtual ~Connection() = default;
  // Nothing when the other side is gone, and then for good.
  virtual std::optional<Words> ask(const Words& words) = 0;
};
// Null when nobody is there.
using Connect = std::function<std::unique_ptr<Connection>()>;
Connect words_to(std::filesystem::path socket);

// False, or nothing, when the other side is gone.
bool send_words(const Descriptor& to, const Words& words);
std::optional<Words> receive_words(const Descriptor& from);

}  // namespace pawl::kill
