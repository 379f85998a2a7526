// Transfer: one handle of libcurl, set up so that it goes where it was allowed to go and nowhere
// else.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "outside/door.h"
#include "pawl/result.h"

namespace pawl {

// libcurl has to be begun once, before threads use it.
void begin_transfers();

// Lines as libcurl takes them: headers, recipients.
class Lines {
 public:
  void add(std::string line) { lines_.push_back(std::move(line)); }
  // In place of the header of that name, or at the end.
  void replace(std::string_view name, std::string line);
  curl_slist* list();  // lives as long as this, and until something is added

 private:
  struct ListFree {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  std::vector<std::string> lines_;
  std::unique_ptr<curl_slist, ListFree> list_;
};

class Transfer {
 public:
  struct Limits {
    std::string certificates;
    std::chrono::milliseconds at_most;
    std::function<bool()> may_go_on;
    std::size_t body_max;
  };

  Transfer(const Destination& to, Limits limits);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* handle() { return curl_.get(); }

  // To its end. What came before it ended is there.
  Result<void> run();

  std::string take_body() { return std::move(body_); }
  bool is_cut() const { return is_cut_; }

 private:
  struct HandleFree {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };

  static std::size_t receive(char* bytes, std::size_t size, std::size_t count, void* self);
  static int go_on(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

  Destination to_;
  Limits limits_;
  std::unique_ptr<CURL, HandleFree> curl_;
  Lines resolved_;
  std::string body_;
  bool is_cut_ = false;
  bool is_stopped_ = false;
};

}  // namespace pawl
