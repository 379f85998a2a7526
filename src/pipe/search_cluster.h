// SearchCluster: the nodes of the search engine and how much may be under way to them, for all
// threads; SearchClient: the requests of one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"
#include "pawl/time.h"
#include "pipe/bulk_answer.h"
#include "pipe/pipe_config.h"
#include "pipe/search_nodes.h"

namespace pawl {

// How many bulks may be under way: begins with 2, one more after 10 clean answers, half after a
// sign of pressure, never less than one. For all threads.
class BulkWindow {
 public:
  explicit BulkWindow(int most);

  // False: full.
  bool take();
  enum class Answer { clean, pressed, neither };
  void give_back(Answer answer);

  int size() const;
  int under_way() const;

 private:
  mutable std::mutex mutex_;
  const int most_;
  int size_;
  int under_way_ = 0;
  int clean_ = 0;  // answers since the size changed, or a sign of pressure
};

class SearchCluster {
 public:
  // Secrets are read now. Fails when one cannot be, or when a URL is none that can be used.
  static Result<std::unique_ptr<SearchCluster>> make(const SearchConfig& config);
  ~SearchCluster();

  BulkWindow& window();

  using NodeView = SearchNodes::View;
  std::vector<NodeView> nodes() const;

  // How many bulks were answered with status 200, ever.
  std::uint64_t answered() const;

  // GET of a path at the first node that answers, blocking: for checks. The body, when it is 200.
  Result<std::string> get(const std::string& path) const;

  // What each node answers to a GET, blocking: for checks.
  struct Asked {
    std::string url;
    int status = 0;         // 0: it did not answer
    std::string body = {};  // of any status
    std::string why = {};   // it did not answer
  };
  std::vector<Asked> ask_all(const std::string& path) const;

 private:
  friend class SearchClient;
  struct Inside;
  explicit SearchCluster(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

// How one bulk ended: a failure, or the body of an answer with status 200.
struct BulkReply {
  std::uint64_t id = 0;  // as given to `send`
  std::optional<BulkFailure> failure = {};
  std::string body = {};
  Duration took = {};
};

// For one thread, except `wake`. The cluster outlives it. What is under way when it is destroyed is
// ended, and nobody is told.
class SearchClient {
 public:
  explicit SearchClient(SearchCluster& cluster);
  ~SearchClient();
  SearchClient(const SearchClient&) = delete;
  SearchClient& operator=(const SearchClient&) = delete;

  // A place of the cluster's window, for one bulk. False: there is none; `poll` returns when there
  // may be one.
  bool take_place();
  void give_back_place(BulkWindow::Answer answer);

  // Begins a bulk request, in a place that was taken and that the caller gives back. The body stays
  // where it is until its reply.
  void send(std::uint64_t id, std::string_view body);

  // Goes on with what is under way, waiting at most so long for something to happen, on the
  // network, by `wake`, or on `descriptor` becoming readable (-1: none); calls `replied`, which may
  // send, for each that ended.
  void poll(std::chrono::milliseconds at_most, int descriptor,
            const std::function<void(BulkReply&)>& replied);

  // Lets `poll` return soon. From any thread.
  void wake();

  std::size_t under_way() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace pawl
