// The judgements; with both ends they are tried by src/cli/pipe_check_test.cc.
#include "pipe/pipe_check.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

using FindingKind = CheckFinding::Kind;

TEST(PipeCheck, ComparesTheRoomOfErrorsWithTheLargestMessage) {
  const std::vector<TopicFound> topics = {{.name = "a", .message_bytes_max = 1'000'000},
                                          {.name = "b", .message_bytes_max = 2'000'000},
                                          {.name = "c"}};
  const ErrorsConfig headers;
  const ErrorsConfig json{.format = ErrorsConfig::Format::json};
  EXPECT_EQ(about_errors_limit(headers, 2'008'192, topics).kind, FindingKind::ok);
  EXPECT_EQ(about_errors_limit(headers, 2'008'191, topics).kind, FindingKind::warning);
  EXPECT_EQ(about_errors_limit(headers, 2'000'000, topics).kind, FindingKind::warning);
  EXPECT_EQ(about_errors_limit(json, 2'008'192, topics).kind, FindingKind::warning);
  const CheckFinding small = about_errors_limit(headers, 1'999'999, topics);
  EXPECT_EQ(small.kind, FindingKind::problem);
  EXPECT_NE(small.text.find("`b` may have 2000000"), std::string::npos) << small.text;
  EXPECT_EQ(small.remedy, "set `max.message.bytes` of `_errors` to 2008192 or more");
  EXPECT_EQ(about_errors_limit(headers, std::nullopt, topics).kind, FindingKind::ok);
  EXPECT_EQ(about_errors_limit(headers, 1, {}).kind, FindingKind::ok);
}

TEST(PipeCheck, KnowsNodesByWhatTheySay) {
  const auto about = [](int status, const std::string& body, NodeFound* found = nullptr) {
    NodeFound own;
    return about_node({.url = "http://a", .status = status, .body = body, .why = "gone"},
                      found != nullptr ? *found : own);
  };
  NodeFound found;
  EXPECT_EQ(
      about(200, R"({"version":{"distribution":"opensearch","number":"2.19.1"}})", &found).text,
      "OpenSearch 2.19.1");
  EXPECT_EQ(found.version, "2.19.1");
  EXPECT_EQ(about(200, R"({"version":{"number":"8.17.0"},"tagline":"x"})").text,
            "Elasticsearch 8.17.0");
  EXPECT_EQ(about(200, R"({"version":{"number":"6.8.0"}})").kind, FindingKind::problem);
  // The first OpenSearch is younger than Elasticsearch 7.
  EXPECT_EQ(about(200, R"({"version":{"distribution":"opensearch","number":"1.3.0"}})").kind,
            FindingKind::ok);
  EXPECT_EQ(about(200, "<html>").kind, FindingKind::warning);
  EXPECT_EQ(about(403, "").kind, FindingKind::ok);
  EXPECT_EQ(about(405, "").kind, FindingKind::ok);
  for (const int status : {0, 301, 401, 404, 503}) {
    EXPECT_EQ(about(status, "").kind, FindingKind::problem) << status;
    EXPECT_NE(about(status, "").remedy, "") << status;
  }
}

TEST(PipeCheck, JudgesWhatWouldBecomeOfMessages) {
  DryRun run{.topic = "a", .messages = 10, .documents = 9, .skipped = 1};
  EXPECT_EQ(about_dry_run(run).kind, FindingKind::ok);
  EXPECT_EQ(about_dry_run({.topic = "a"}).kind, FindingKind::ok);
  run.documents = 1;
  run.failed["invalid_event"] = {.messages = 8};
  EXPECT_EQ(about_dry_run(run).kind, FindingKind::warning);
  EXPECT_EQ(about_dry_run(run).text, "of the last 10 messages, 1 document, 1 skipped, 8 failed");
  run.failed["invalid_event"].action = PipeMachine::ItemAction::again;
  EXPECT_EQ(about_dry_run(run).kind, FindingKind::problem);
  const DryRun none{.topic = "a", .messages = 3, .failed = {{"invalid_format", {.messages = 3}}}};
  EXPECT_EQ(about_dry_run(none).kind, FindingKind::problem);
}

TEST(PipeCheck, SaysSizesAsPeopleDo) {
  EXPECT_EQ(size_text(1), "1 byte");
  EXPECT_EQ(size_text(1'023), "1023 bytes");
  EXPECT_EQ(size_text(1'024), "1 KiB");
  EXPECT_EQ(size_text(1'572'864), "1.5 MiB");
  EXPECT_EQ(size_text(std::size_t{64} << 20U), "64 MiB");
  EXPECT_EQ(size_text(std::size_t{3} << 30U), "3 GiB");
}

}  // namespace
}  // namespace pawl
