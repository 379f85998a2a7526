#include "pipe/search_cluster.h"

#include <curl/curl.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <limits>
#include <utility>

#include "base/text.h"
#include "outside/transfer.h"
#include "pawl/assert.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

constexpr long kConnectMs = 5'000;
constexpr long kUploadBytes = 1L << 20U;  // libcurl copies through it: so much stays in a cache
constexpr long kDownloadBytes = 256L << 10U;
constexpr std::size_t kAnswerMax = 64U << 20U;
constexpr int kCleanAnswers = 10;
constexpr std::size_t kIdleMax = 4;  // handles kept; each may hold its room for uploads
constexpr std::chrono::seconds kRetryAfterMax = std::chrono::minutes{10};

// Of an answer, only what decides; the number of items stays, as each has a status.
constexpr std::string_view kBulkPath = "/_bulk?filter_path=errors,items.*.status,items.*.error";

struct EasyFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EasyFree>;

struct MultiFree {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

struct UrlFree {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

struct TextFree {
  void operator()(char* text) const { curl_free(text); }
};
using CurlText = std::unique_ptr<char, TextFree>;

Easy make_easy() {
  begin_transfers();
  Easy easy(curl_easy_init());
  PAWL_ASSERT(easy != nullptr, "there is memory for a transfer");
  return easy;
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return "";
  const CurlText owned(text);
  return text;
}

// Without a slash at its end. What is wrong with it is said without repeating it where it may hold
// a password.
Result<std::string> check_url(const std::string& text) {
  const std::unique_ptr<CURLU, UrlFree> url(curl_url());
  PAWL_ASSERT(url != nullptr, "there is memory for a url");
  const bool is_read = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  if (text.find('@') != std::string::npos)
    return Error{
        ErrorCode::bad_input,
        "a URL of the search engine must not contain a user or password: use `user` and `password`"};
  const std::string scheme = is_read ? part_of(url.get(), CURLUPART_SCHEME) : "";
  if ((scheme != "http" && scheme != "https") || text.find_first_of("?#") != std::string::npos)
    return Error{ErrorCode::bad_input, in_quotes(text) +
                                           " is not the URL of a search engine; one looks like "
                                           "https://search-1.example.com:9200"};
  return text.substr(0, text.find_last_not_of('/') + 1);
}

// As one line of a header.
Result<std::string> read_secret(const Secret& secret, std::string_view what) {
  PAWL_TRY(std::string text, secret.read());
  const bool is_line = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (is_line) return text;
  return Error{ErrorCode::bad_input,
               "the " + std::string(what) + " of the search engine contains a control character"};
}

std::string escaped(const std::string& text) {
  const Easy easy = make_easy();
  const CurlText owned(curl_easy_escape(easy.get(), text.data(), static_cast<int>(text.size())));
  PAWL_ASSERT(owned != nullptr, "there is memory for a name");
  return owned.get();
}

// What arrives for one request.
struct Arrival {
  std::string body = {};
  bool is_too_long = false;
  std::array<char, CURL_ERROR_SIZE> why = {};

  static std::size_t receive(char* bytes, std::size_t size, std::size_t count, void* of) {
    Arrival& self = *static_cast<Arrival*>(of);
    const std::size_t given = size * count;
    self.is_too_long = given > kAnswerMax - self.body.size();
    if (self.is_too_long) return 0;
    self.body.append(bytes, given);
    return given;
  }

  void clear() {
    body.clear();
    is_too_long = false;
    why[0] = '\0';
  }

  std::string error(CURLcode code) const {
    if (is_too_long) return "response too long: more than " + std::to_string(kAnswerMax) + " bytes";
    return why[0] != '\0' ? why.data() : curl_easy_strerror(code);
  }
};

void receive_into(CURL* easy, Arrival& arrival) {
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, Arrival::receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &arrival);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, arrival.why.data());
}

int status_of(CURL* easy) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

std::optional<Duration> retry_after_of(CURL* easy) {
  curl_off_t seconds = 0;
  curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds{std::min<curl_off_t>(seconds, kRetryAfterMax.count())};
}

// Packs one text after the other.
class Gzip {
 public:
  Gzip() {
    constexpr int kGzipWindow = 15 + 16;
    const int begun =
        deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
    PAWL_ASSERT(begun == Z_OK, "there is memory to pack a text");
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  void pack(std::string_view text, std::string& packed) {
    PAWL_ASSERT(text.size() < std::numeric_limits<uInt>::max() / 2, "a bulk is a few megabytes");
    packed.resize(deflateBound(&stream_, text.size()));
    // zlib does not write to it.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_out = static_cast<uInt>(packed.size());
    PAWL_ASSERT(deflate(&stream_, Z_FINISH) == Z_STREAM_END, "the bound is one");
    packed.resize(stream_.total_out);
    deflateReset(&stream_);
  }

 private:
  z_stream stream_ = {};
};

}  // namespace

BulkWindow::BulkWindow(int most) : most_(std::max(most, 1)), size_(std::min(most_, 2)) {}

bool BulkWindow::take() {
  const std::lock_guard lock(mutex_);
  if (under_way_ >= size_) return false;
  ++under_way_;
  return true;
}

void BulkWindow::give_back(Answer answer) {
  const std::lock_guard lock(mutex_);
  PAWL_ASSERT(under_way_ > 0, "a place is given back by who took it");
  --under_way_;
  if (answer == Answer::pressed) {
    size_ = std::max(size_ / 2, 1);
    clean_ = 0;
  }
  if (answer == Answer::clean && ++clean_ == kCleanAnswers) {
    size_ = std::min(size_ + 1, most_);
    clean_ = 0;
  }
}

int BulkWindow::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

int BulkWindow::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_;
}

struct SearchCluster::Inside {
  SearchConfig config;
  std::vector<std::string> urls;
  std::string bulk_path;
  std::string password;
  std::string api_key;
  SearchNodes nodes;
  BulkWindow window;
  std::atomic<std::uint64_t> answered = 0;

  std::mutex waiting_mutex;
  std::vector<CURLM*> waiting;  // whose `poll` returns when there may be room

  Inside(const SearchConfig& given, std::vector<std::string> checked_urls)
      : config(given),
        urls(std::move(checked_urls)),
        bulk_path(kBulkPath),
        nodes(urls),
        window(given.bulks_max) {
    if (!config.pipeline.empty()) bulk_path += "&pipeline=" + escaped(config.pipeline);
  }

  // What requests of all kinds have in common.
  void set_up(CURL* easy) const;
  void authorise(Lines& headers) const;
  Asked ask(const std::string& url, const std::string& path) const;

  void wait_for_room(CURLM* multi);
  void stop_waiting(CURLM* multi);
  void tell_of_room();
};

void SearchCluster::Inside::set_up(CURL* easy) const {
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(config.timeout).count();
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "pawl");
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<long>(timeout, 1)));
  if (!config.certificates.empty())
    curl_easy_setopt(easy, CURLOPT_CAINFO, config.certificates.c_str());
  if (api_key.empty() && !config.user.empty()) {
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(easy, CURLOPT_USERNAME, config.user.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, password.c_str());
  }
}

void SearchCluster::Inside::authorise(Lines& headers) const {
  if (!api_key.empty()) headers.add("Authorization: ApiKey " + api_key);
}

void SearchCluster::Inside::wait_for_room(CURLM* multi) {
  const std::lock_guard lock(waiting_mutex);
  if (std::find(waiting.begin(), waiting.end(), multi) == waiting.end()) waiting.push_back(multi);
}

void SearchCluster::Inside::stop_waiting(CURLM* multi) {
  const std::lock_guard lock(waiting_mutex);
  std::erase(waiting, multi);
}

void SearchCluster::Inside::tell_of_room() {
  const std::lock_guard lock(waiting_mutex);
  for (CURLM* const multi : waiting) curl_multi_wakeup(multi);
  waiting.clear();
}

Result<std::unique_ptr<SearchCluster>> SearchCluster::make(const SearchConfig& config) {
  if (config.urls.empty())
    return Error{ErrorCode::bad_input, "the search engine has no URL: name at least one"};
  std::vector<std::string> urls;
  for (const std::string& text : config.urls) {
    PAWL_TRY(std::string url, check_url(text));
    urls.push_back(std::move(url));
  }
  if (!config.certificates.empty() && !std::ifstream(config.certificates))
    return Error{ErrorCode::environment, "the certificates of the search engine, " +
                                             in_quotes(config.certificates) +
                                             ", cannot be read; check the path"};
  auto inside = std::make_unique<Inside>(config, std::move(urls));
  if (config.password.has_value()) {
    PAWL_TRY(inside->password, read_secret(*config.password, "password"));
  }
  if (config.api_key.has_value()) {
    PAWL_TRY(inside->api_key, read_secret(*config.api_key, "key"));
  }
  return std::unique_ptr<SearchCluster>(new SearchCluster(std::move(inside)));
}

SearchCluster::SearchCluster(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

SearchCluster::~SearchCluster() = default;

BulkWindow& SearchCluster::window() { return inside_->window; }

std::vector<SearchCluster::NodeView> SearchCluster::nodes() const { return inside_->nodes.views(); }

std::uint64_t SearchCluster::answered() const { return inside_->answered; }

SearchCluster::Asked SearchCluster::Inside::ask(const std::string& url,
                                                const std::string& path) const {
  Lines headers;
  authorise(headers);
  Arrival arrival;
  const Easy easy = make_easy();
  set_up(easy.get());
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.list());
  receive_into(easy.get(), arrival);
  curl_easy_setopt(easy.get(), CURLOPT_URL, (url + path).c_str());
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) return {.url = url, .why = arrival.error(code)};
  return {.url = url, .status = status_of(easy.get()), .body = std::move(arrival.body)};
}

Result<std::string> SearchCluster::get(const std::string& path) const {
  std::string why;
  for (const std::string& url : inside_->urls) {
    Asked asked = inside_->ask(url, path);
    if (asked.status == 0) {
      why += (why.empty() ? "" : "; ") + url + ": " + asked.why;
      continue;
    }
    if (asked.status == 200) return std::move(asked.body);
    return Error{ErrorCode::environment,
                 url + path + ": " + failure_of_status(asked.status, asked.body, {}).message};
  }
  return Error{ErrorCode::environment, "the search engine cannot be reached: " + why};
}

std::vector<SearchCluster::Asked> SearchCluster::ask_all(const std::string& path) const {
  std::vector<Asked> all;
  for (const std::string& url : inside_->urls) all.push_back(inside_->ask(url, path));
  return all;
}

// One request, with a handle that is used again.
struct Bulk {
  Easy easy = make_easy();
  Arrival arrival = {};
  std::uint64_t id = 0;
  std::size_t node = 0;
  std::string packed = {};
};

struct SearchClient::Inside {
  using Bulks = std::vector<std::unique_ptr<Bulk>>;

  SearchCluster::Inside& cluster;
  Lines headers;
  curl_slist* header_list = nullptr;  // of them
  std::optional<Gzip> gzip;
  std::unique_ptr<CURLM, MultiFree> multi;
  Bulks under_way;
  Bulks idle;

  explicit Inside(SearchCluster::Inside& of);
  std::unique_ptr<Bulk> make_bulk();
  void perform();
  std::unique_ptr<Bulk> take_ended(CURL* easy);
  BulkReply reply_of(Bulk& bulk, CURLcode code);
  // How many.
  std::size_t give_ended(const std::function<void(BulkReply&)>& replied);
};

SearchClient::Inside::Inside(SearchCluster::Inside& of) : cluster(of) {
  begin_transfers();
  multi.reset(curl_multi_init());
  PAWL_ASSERT(multi != nullptr, "there is memory for transfers");
  headers.add("Content-Type: application/x-ndjson");
  headers.add("Expect:");
  cluster.authorise(headers);
  if (cluster.config.gzip) {
    headers.add("Content-Encoding: gzip");
    gzip.emplace();
  }
  header_list = headers.list();
}

SearchClient::SearchClient(SearchCluster& cluster)
    : inside_(std::make_unique<Inside>(*cluster.inside_)) {}

SearchClient::~SearchClient() {
  inside_->cluster.stop_waiting(inside_->multi.get());
  for (const auto& bulk : inside_->under_way)
    curl_multi_remove_handle(inside_->multi.get(), bulk->easy.get());
}

bool SearchClient::take_place() {
  if (inside_->cluster.window.take()) return true;
  inside_->cluster.wait_for_room(inside_->multi.get());
  return inside_->cluster.window.take();  // who gave one back in between told nobody
}

void SearchClient::give_back_place(BulkWindow::Answer answer) {
  inside_->cluster.window.give_back(answer);
  inside_->cluster.tell_of_room();
}

void SearchClient::send(std::uint64_t id, std::string_view body) {
  std::unique_ptr<Bulk> bulk = inside_->make_bulk();
  SearchCluster::Inside& cluster = inside_->cluster;
  bulk->id = id;
  bulk->node = cluster.nodes.choose(std::chrono::steady_clock::now());
  if (inside_->gzip.has_value()) {
    inside_->gzip->pack(body, bulk->packed);
    body = bulk->packed;
  }
  CURL* const easy = bulk->easy.get();
  curl_easy_setopt(easy, CURLOPT_URL, (cluster.urls[bulk->node] + cluster.bulk_path).c_str());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data());
  const CURLMcode added = curl_multi_add_handle(inside_->multi.get(), easy);
  PAWL_ASSERT(added == CURLM_OK, "a handle that is not in use can be added");
  inside_->under_way.push_back(std::move(bulk));
}

void SearchClient::poll(std::chrono::milliseconds at_most, int descriptor,
                        const std::function<void(BulkReply&)>& replied) {
  inside_->perform();
  if (inside_->give_ended(replied) > 0) at_most = {};
  curl_waitfd other{.fd = descriptor, .events = CURL_WAIT_POLLIN, .revents = 0};
  const auto wait = std::clamp<std::chrono::milliseconds::rep>(at_most.count(), 0,
                                                               std::numeric_limits<int>::max());
  const CURLMcode waited = curl_multi_poll(inside_->multi.get(), &other, descriptor < 0 ? 0 : 1,
                                           static_cast<int>(wait), nullptr);
  PAWL_ASSERT(waited == CURLM_OK, "transfers can be waited for");
  inside_->perform();
  inside_->give_ended(replied);
}

void SearchClient::wake() { curl_multi_wakeup(inside_->multi.get()); }

std::size_t SearchClient::under_way() const { return inside_->under_way.size(); }

std::unique_ptr<Bulk> SearchClient::Inside::make_bulk() {
  if (!idle.empty()) {
    std::unique_ptr<Bulk> bulk = std::move(idle.back());
    idle.pop_back();
    return bulk;
  }
  auto bulk = std::make_unique<Bulk>();
  CURL* const easy = bulk->easy.get();
  cluster.set_up(easy);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, header_list);
  receive_into(easy, bulk->arrival);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBytes);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kDownloadBytes);
  return bulk;
}

void SearchClient::Inside::perform() {
  int running = 0;
  const CURLMcode performed = curl_multi_perform(multi.get(), &running);
  PAWL_ASSERT(performed == CURLM_OK, "transfers can go on");
}

std::unique_ptr<Bulk> SearchClient::Inside::take_ended(CURL* easy) {
  curl_multi_remove_handle(multi.get(), easy);
  const auto at = std::find_if(under_way.begin(), under_way.end(),
                               [&](const auto& bulk) { return bulk->easy.get() == easy; });
  PAWL_ASSERT(at != under_way.end(), "what ended was under way");
  std::unique_ptr<Bulk> bulk = std::move(*at);
  under_way.erase(at);
  return bulk;
}

BulkReply SearchClient::Inside::reply_of(Bulk& bulk, CURLcode code) {
  BulkReply reply{.id = bulk.id};
  curl_off_t took_us = 0;
  curl_easy_getinfo(bulk.easy.get(), CURLINFO_TOTAL_TIME_T, &took_us);
  reply.took = Duration{took_us};
  const std::string& url = cluster.urls[bulk.node];
  if (code != CURLE_OK) {
    reply.failure = failure_of_transfer(code, url + ": " + bulk.arrival.error(code));
    reply.failure->bisect = bulk.arrival.is_too_long;
  } else if (const int status = status_of(bulk.easy.get()); status != 200) {
    reply.failure = failure_of_status(status, bulk.arrival.body, retry_after_of(bulk.easy.get()));
  } else {
    reply.body = std::move(bulk.arrival.body);
    ++cluster.answered;
  }
  const bool is_reached = !reply.failure.has_value() || reply.failure->bisect ||
                          (reply.failure->code != pipe_code::kEsUnavailable &&
                           reply.failure->code != pipe_code::kNetwork);
  if (is_reached) {
    cluster.nodes.answered(bulk.node);
  } else {
    cluster.nodes.failed(bulk.node, reply.failure->message, std::chrono::steady_clock::now());
  }
  return reply;
}

std::size_t SearchClient::Inside::give_ended(const std::function<void(BulkReply&)>& replied) {
  // All of them before the first is told: what is told may send.
  Bulks ended;
  std::vector<BulkReply> replies;
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;  // gone with the handle
    std::unique_ptr<Bulk> bulk = take_ended(message->easy_handle);
    replies.push_back(reply_of(*bulk, code));
    ended.push_back(std::move(bulk));
  }
  for (std::size_t i = 0; i < ended.size(); ++i) {
    replied(replies[i]);
    ended[i]->arrival.body = std::move(replies[i].body);  // its room serves the next answer
    ended[i]->arrival.clear();
    if (idle.size() < kIdleMax) idle.push_back(std::move(ended[i]));
  }
  return ended.size();
}

}  // namespace pawl
