// What a pipe is told: which topics, what becomes of a message, where documents go, and where what
// fails is kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outside/secret.h"
#include "pawl/definition.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct TopicChoice {
  std::string name;
  std::vector<std::int32_t> partitions = {};  // none: all that there are, and those to come
  Position at = {};
};

struct KafkaConfig {
  enum class Start { earliest, latest };
  // Whether partitions are shared out among the members of the group, or are those of the file.
  enum class Assignment { group, fixed };

  std::string brokers;
  std::string group;  // the name under which offsets are committed, also with a fixed assignment
  std::vector<TopicChoice> topics = {};
  Start start = Start::earliest;  // where nothing was committed yet
  Assignment assignment = Assignment::group;
  std::string instance = {};  // `group.instance.id`: a member that is known again when it is back
  Duration drain_timeout = std::chrono::seconds{20};  // for batches on their way at a rebalance
  Duration commit_every = std::chrono::seconds{1};
  Duration find_every = std::chrono::minutes{5};  // new partitions are looked for
  std::size_t fetch_bytes = 32U << 20U;           // fetched ahead, over all partitions
  // Any of librdkafka's own, in the order of the file; a value may be a secret.
  struct Option {
    std::string name;
    std::string value;
    std::optional<Secret> secret = {};
    Position at = {};
  };
  std::vector<Option> options = {};
};

// What becomes of one message.
struct TransformConfig {
  // plain: the message is the document; river: {index, id, source}, which says where it goes.
  enum class Message { plain, river };
  enum class Tombstone {
    skip,
    erase,
    error
  };                                // of a message without a value; `delete` in the file
  enum class Op { index, create };  // create: for data streams
  struct Id {
    enum class From { offset, key, field, none };  // none: `auto`, documents may come twice
    From from = From::offset;
    std::string field = {};  // dotted
  };
  struct Time {
    enum class From { field, message, system };  // message: the time that Kafka keeps with it
    enum class Format { millis, seconds, iso_8601, pattern };
    From from = From::message;
    std::string field = {};  // dotted
    Format format = Format::iso_8601;
    std::string pattern = {};  // strptime's
  };
  struct Required {
    std::string field;    // dotted
    FieldType type = {};  // any: it has to be there, and not null
    Position at = {};
  };

  Message message = Message::plain;
  std::vector<Required> require = {};
  std::string index = {};  // a template: `events-{time:%Y.%m.%d}`, `{data.kind}-events`
  Position index_at = {};
  Time time = {};
  Id id = {};
  Op op = Op::index;
  std::vector<std::pair<std::string, std::string>> rename = {};  // of the first level: old, new
  std::vector<std::string> drop = {};                            // fields of the first level
  std::vector<Assignment> set = {};  // fields of the first level ← values over `data`
  std::optional<Expression> drop_if = {};
  Tombstone tombstone = Tombstone::skip;
  bool allow_nondeterministic_index = false;  // an index that depends on the clock
  std::size_t document_bytes_max = 10U << 20U;
};

struct SearchConfig {
  std::vector<std::string> urls = {};
  std::string user = {};
  std::optional<Secret> password = {};
  std::optional<Secret> api_key = {};
  std::string certificates = {};  // a file (PEM) of authorities to trust; empty: the machine's
  Duration timeout = std::chrono::seconds{60};  // of one bulk
  int bulks_max = 8;                            // the window's upper bound
  bool gzip = false;
  std::string pipeline = {};  // an ingest pipeline of the search engine
};

struct ErrorsConfig {
  enum class Format { headers, json };

  std::string topic = "_errors";
  Format format = Format::headers;
  bool connect_headers = false;  // copies under the names Kafka Connect's tools know
};

struct BatchConfig {
  int messages = 5'000;
  std::size_t bytes = 1U << 20U;
  Duration linger = std::chrono::milliseconds{50};
  int in_flight = 2;                // batches of one partition on their way; 1: strict order
  std::size_t memory = 32U << 20U;  // of batches on their way, over all partitions
};

struct PipeConfig {
  std::string name;
  KafkaConfig kafka = {};
  TransformConfig transform = {};
  SearchConfig search = {};
  ErrorsConfig errors = {};
  BatchConfig batch = {};
  int workers = 0;           // threads that transform and send; 0: one a core
  std::string machine = {};  // a file with states and error table; empty: the one that is built in
};

}  // namespace pawl
