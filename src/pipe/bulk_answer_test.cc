#include "pipe/bulk_answer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using ItemKind = ItemAnswer::Kind;
using namespace std::chrono_literals;

// An answer, with what it points at.
struct Read {
  ItemKind kind;
  int status;
  std::string type;
  std::string reason;
};

// Nothing: it was not understood, and nothing was called.
std::vector<Read> read(std::string body, std::size_t sent) {
  std::vector<Read> answers;
  const auto done = read_bulk_answer(body, sent, [&](std::size_t at, const ItemAnswer& answer) {
    EXPECT_EQ(at, answers.size());
    answers.push_back(
        {answer.kind, answer.status, std::string(answer.type), std::string(answer.reason)});
  });
  EXPECT_EQ(done.has_value(), !answers.empty() || sent == 0);
  return answers;
}

std::string why_not(std::string body, std::size_t sent) {
  const auto done = read_bulk_answer(
      body, sent, [](std::size_t, const ItemAnswer&) { ADD_FAILURE() << "nothing is known"; });
  if (done.has_value()) return "";
  constexpr std::string_view kBegin = " is invalid: ";
  const std::string& message = done.error().message;
  return message.substr(message.find(kBegin) + kBegin.size());
}

Read only(const std::string& action, const std::string& inside) {
  const auto answers =
      read(R"({"errors":true,"items":[{")" + action + R"(":{)" + inside + "}}]}", 1);
  EXPECT_EQ(answers.size(), 1U) << inside;
  return answers.empty() ? Read{} : answers.front();
}

ItemKind kind(const std::string& action, int status, const std::string& type = "some_exception") {
  return only(action, R"("status":)" + std::to_string(status) + R"(,"error":{"type":")" + type +
                          R"(","reason":"why"})")
      .kind;
}

TEST(BulkAnswer, OfOpenSearchIsRead) {
  const auto answers = read(
      R"({"took":7,"errors":true,"items":[
        {"index":{"_index":"ev","_id":"1","status":400,"error":{"type":"mapper_parsing_exception",
          "reason":"failed to parse field [n] of type [integer]","caused_by":
          {"type":"number_format_exception","reason":"For input string: \"abc\""}}}},
        {"index":{"_index":"ev","_id":"2","_version":1,"result":"created",
          "_shards":{"total":1,"successful":1,"failed":0},"_seq_no":3,"_primary_term":1,
          "status":201}}]})",
      2);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].kind, ItemKind::refused);
  EXPECT_EQ(answers[0].status, 400);
  EXPECT_EQ(answers[0].type, "mapper_parsing_exception");
  EXPECT_EQ(answers[0].reason,
            "failed to parse field [n] of type [integer]: For input string: \"abc\"");
  EXPECT_EQ(answers[1].kind, ItemKind::indexed);
  EXPECT_EQ(answers[1].status, 201);
  EXPECT_EQ(answers[1].type, "");
}

TEST(BulkAnswer, OfElasticsearchIsReadWhateverTheOrderOfItsKeys) {
  const auto answers = read(
      R"x({"errors":true,"took":0,"ingest_took":4,"items":[
        {"create":{"status":409,"error":{"type":"version_conflict_engine_exception","reason":
          "[7]: version conflict, document already exists (current version [1])","shard":"0"}}},
        {"index":{"error":{"reason":"primary shard is not active","type":
          "unavailable_shards_exception"},"status":503,"_id":null}}]})x",
      2);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].kind, ItemKind::duplicate);
  EXPECT_EQ(answers[1].kind, ItemKind::busy);
  EXPECT_EQ(answers[1].reason, "primary shard is not active");
}

TEST(BulkAnswer, WithoutErrorsHasAStatusPerItem) {
  const auto answers = read(
      R"({"errors":false,"items":[{"index":{"status":200}},{"create":{"status":201}},{"index":{"status":429}}]})",
      3);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].kind, ItemKind::indexed);
  EXPECT_EQ(answers[1].kind, ItemKind::indexed);
  EXPECT_EQ(answers[2].kind, ItemKind::busy) << "whatever it says of all of them";
}

TEST(BulkAnswer, ThatIsPlainIsReadLikeAnyOther) {
  const std::string plain =
      R"({"errors":false,"items":[{"index":{"status":201}},{"create":{"status":201}},{"index":{"status":200}}]})";
  // The same to a reader of JSON.
  for (const std::string& body : {plain, " " + plain, plain + "\n"}) {
    const auto answers = read(body, 3);
    ASSERT_EQ(answers.size(), 3U) << body;
    for (const Read& answer : answers) EXPECT_EQ(answer.kind, ItemKind::indexed);
    EXPECT_EQ(answers[0].status, 201);
    EXPECT_EQ(answers[1].status, 201);
    EXPECT_EQ(answers[2].status, 200);
    EXPECT_EQ(why_not(body, 2), "it has too many items");
    EXPECT_EQ(why_not(body, 4), "it has too few items");
  }
  EXPECT_TRUE(read(R"({"errors":false,"items":[]})", 0).empty());
  for (std::size_t bytes = 0; bytes < plain.size(); ++bytes)
    EXPECT_NE(why_not(plain.substr(0, bytes), 3), "") << bytes;
  for (const char* after : {"}", "]}", ",", "x", "{}"})
    EXPECT_NE(why_not(plain + after, 3), "") << after;
}

TEST(BulkAnswer, WithOneItemThatFailedIsReadWhole) {
  const auto answers = read(
      R"({"errors":false,"items":[{"index":{"status":201}},{"index":{"status":409,"error":{"type":"t"}}},{"index":{"status":201}}]})",
      3);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].kind, ItemKind::indexed);
  EXPECT_EQ(answers[1].kind, ItemKind::duplicate);
  EXPECT_EQ(answers[1].type, "t");
  EXPECT_EQ(answers[2].kind, ItemKind::indexed);
}

TEST(BulkAnswer, OfAnOldEngineHasItsErrorAsAString) {
  const Read missing =
      only("index", R"("status":404,"error":"IndexMissingException[[absent] missing]")");
  EXPECT_EQ(missing.kind, ItemKind::blocked);
  EXPECT_EQ(missing.type, "IndexMissingException");
  EXPECT_EQ(missing.reason, "IndexMissingException[[absent] missing]");
  EXPECT_EQ(only("index", R"("status":400,"error":"MapperParsingException[failed]")").kind,
            ItemKind::refused);
}

TEST(BulkAnswer, StatusDecidesWhatAnItemComesTo) {
  EXPECT_EQ(kind("index", 409), ItemKind::duplicate);
  EXPECT_EQ(kind("delete", 409), ItemKind::duplicate);
  for (const int status : {408, 429, 500, 502, 503, 504, 507, 599})
    EXPECT_EQ(kind("index", status), ItemKind::busy) << status;
  for (const int status : {400, 401, 404, 405, 406, 410, 413, 422, 499})
    EXPECT_EQ(kind("index", status), ItemKind::refused) << status;
  EXPECT_EQ(kind("index", 403), ItemKind::blocked);
  EXPECT_EQ(kind("index", 403, "cluster_block_exception"), ItemKind::blocked);
  EXPECT_EQ(kind("index", 429, "cluster_block_exception"), ItemKind::busy) << "the disk is full";
  EXPECT_EQ(kind("index", 404, "index_not_found_exception"), ItemKind::blocked);
  EXPECT_EQ(kind("index", 400, "index_not_found_exception"), ItemKind::refused);
  EXPECT_EQ(kind("index", 400, "a_name_to_come"), ItemKind::refused);
}

TEST(BulkAnswer, DeletingWhatIsNotThereIsDone) {
  EXPECT_EQ(only("delete", R"("_id":"x","result":"not_found","status":404)").kind,
            ItemKind::indexed);
  EXPECT_EQ(only("delete", R"("status":404,"error":null)").kind, ItemKind::indexed);
  EXPECT_EQ(only("index", R"("status":404)").kind, ItemKind::refused);
  EXPECT_EQ(kind("delete", 404, "index_not_found_exception"), ItemKind::blocked);
}

TEST(BulkAnswer, ReasonHasEveryCauseOnce) {
  EXPECT_EQ(only("index", R"("status":400,"error":{"type":"a","reason":"one","caused_by":
      {"reason":"two","caused_by":{"type":"c","caused_by":{"reason":"one"}}}})")
                .reason,
            "one: two");
  EXPECT_EQ(
      only("index", R"("status":400,"error":{"type":"a","caused_by":{"reason":"two"}})").reason,
      "two");
  EXPECT_EQ(only("index", R"("status":400,"error":{"type":"a","reason":null})").reason, "");
  EXPECT_EQ(only("index", R"("status":400,"error":17)").reason, "");
}

TEST(BulkAnswer, LongReasonIsCutBetweenCharacters) {
  std::string euros;
  for (int at = 0; at < 3'000; ++at) euros += "€";
  const std::string plain =
      only("index", R"("status":400,"error":{"reason":")" + euros + R"("})").reason;
  EXPECT_EQ(plain, euros.substr(0, 4'095));
  const std::string caused =
      only("index",
           R"("status":400,"error":{"reason":"a","caused_by":{"reason":")" + euros + R"("}})")
          .reason;
  EXPECT_EQ(caused, "a: " + euros.substr(0, 4'092));
}

// Each reason stays where it is while others are read.
TEST(BulkAnswer, ReasonsOfManyItemsAreTheirOwn) {
  std::string body = R"({"errors":true,"items":[)";
  for (int at = 0; at < 5'000; ++at)
    body += std::string(at == 0 ? "" : ",") + R"({"index":{"status":400,"error":{"reason":"r)" +
            std::to_string(at) + R"(","caused_by":{"reason":"c)" + std::to_string(at) + R"("}}}})";
  body += "]}";
  const auto answers = read(body, 5'000);
  ASSERT_EQ(answers.size(), 5'000U);
  for (std::size_t at = 0; at < 5'000; ++at)
    ASSERT_EQ(answers[at].reason, "r" + std::to_string(at) + ": c" + std::to_string(at));
}

TEST(BulkAnswer, WithAnotherNumberOfItemsSaysNothing) {
  const std::string two =
      R"({"errors":false,"items":[{"index":{"status":200}},{"index":{"status":200}}]})";
  EXPECT_EQ(why_not(two, 1), "it has too many items");
  EXPECT_EQ(why_not(two, 3), "it has too few items");
  EXPECT_EQ(why_not(R"({"errors":false,"items":[]})", 1), "it has too few items");
  EXPECT_EQ(read(two, 2).size(), 2U);
}

TEST(BulkAnswer, CutAnywhereSaysNothing) {
  const std::string whole =
      R"({"took":1,"items":[{"index":{"status":201}},{"index":{"status":400,"error":{"type":"x"}}}],"errors":true})";
  ASSERT_EQ(read(whole, 2).size(), 2U);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(why_not(whole.substr(0, size), 2), "") << size;
  EXPECT_NE(why_not(whole + "}", 2), "");
  EXPECT_NE(why_not(whole + whole, 2), "");
}

TEST(BulkAnswer, OfUnknownShapeSaysNothing) {
  const auto item = [](const std::string& text) {
    return why_not(R"({"errors":false,"items":[{"index":{"status":200}},)" + text + "]}", 2);
  };
  const std::string unknown = "it has an item of unknown form";
  for (const char* const text :
       {"7", "null", "[]", "{}", R"({"index":{}})", R"({"index":7})",
        R"({"index":{"status":"200"}})", R"({"index":{"status":200.5}})",
        R"({"update":{"status":200}})", R"({"index":{"status":0}})", R"({"index":{"status":100}})",
        R"({"index":{"status":202}})", R"({"index":{"status":302}})", R"({"index":{"status":600}})",
        R"({"index":{"status":4294967496}})", R"({"index":{"status":200,"status":400}})",
        R"({"index":{"status":200},"create":{"status":200}})",
        R"({"index":{"status":201,"error":{"type":"odd"}}})"})
    EXPECT_EQ(item(text), unknown) << text;
  EXPECT_EQ(why_not(R"([{"index":{"status":200}}])", 1), "it is not an object");
  EXPECT_EQ(why_not(R"({"errors":false})", 1), "it has no items");
  EXPECT_EQ(why_not(R"({"items":{"index":{"status":200}}})", 1), "its items are not a list");
  EXPECT_EQ(why_not(R"({"items":[{"index":{"status":200}}],"items":[]})", 1),
            "it has two lists of items");
  EXPECT_NE(why_not("<html>sign in</html>", 1), "");
  EXPECT_NE(why_not("", 1), "");
  EXPECT_NE(why_not("{\"items\":[{\"index\":{\"status\":200,\"_id\":\"\xff\"}}]}", 1), "");
}

TEST(BulkAnswer, NotUnderstoodSaysOfWhat) {
  std::string body = "{}";
  const auto done = read_bulk_answer(body, 3, [](std::size_t, const ItemAnswer&) {});
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().message,
            "the response to a bulk request of 3 items is invalid: it has no items");
}

TEST(BulkAnswer, AfterALongOneAShortOneIsRead) {
  const std::string pad(5U << 20U, 'x');
  EXPECT_EQ(only("index",
                 R"("status":400,"error":{"reason":"a","caused_by":{"reason":")" + pad + R"("}})")
                .reason.size(),
            4'096U);
  EXPECT_EQ(only("index", R"("status":200)").kind, ItemKind::indexed);
  EXPECT_EQ(
      only("index", R"("status":400,"error":{"reason":"a","caused_by":{"reason":"b"}})").reason,
      "a: b");
}

TEST(BulkFailure, OfAStatusHasItsCode) {
  const auto code = [](int status) { return failure_of_status(status, "", {}).code; };
  for (const int status : {400, 401, 403, 404, 405, 406, 408, 410, 413})
    EXPECT_EQ(code(status), pipe_code::kEs4xx) << status;
  EXPECT_EQ(code(429), pipe_code::kEsBusy);
  for (const int status : {500, 501, 503, 507})
    EXPECT_EQ(code(status), pipe_code::kEs5xx) << status;
  for (const int status : {502, 504}) EXPECT_EQ(code(status), pipe_code::kEsUnavailable) << status;
  for (const int status : {202, 204, 301, 302})
    EXPECT_EQ(code(status), pipe_code::kEs4xx) << status;
}

TEST(BulkFailure, OfADocumentIsBisected) {
  for (const int status : {302, 401, 403, 404, 406, 408, 410, 422, 429, 500, 502, 503})
    EXPECT_FALSE(failure_of_status(status, "", {}).bisect) << status;
  EXPECT_TRUE(failure_of_status(400, R"({"error":{"type":"x"},"status":400})", {}).bisect);
  EXPECT_FALSE(failure_of_status(400, "<html>", {}).bisect);  // of a proxy
  EXPECT_TRUE(failure_of_status(413, "", {}).bisect);
}

TEST(BulkFailure, SaysWhatTheSearchEngineSaid) {
  const auto message = [](int status, std::string_view body) {
    return failure_of_status(status, body, {}).message;
  };
  EXPECT_EQ(message(400, R"({"error":{"root_cause":[{"type":"x","reason":"y"}],
                "type":"illegal_argument_exception","reason":"Malformed action/metadata line [1]",
                "caused_by":{"type":"z","reason":"found [frob]"}},"status":400})"),
            "the search engine answered 400: illegal_argument_exception: Malformed action/metadata "
            "line [1]: found [frob]");
  EXPECT_EQ(message(406, R"({"error":"Content-Type header [] is not supported","status":406})"),
            "the search engine answered 406: Content-Type header [] is not supported");
  EXPECT_EQ(message(413, ""),
            "the search engine answered 413: the request is larger than the search engine accepts");
  EXPECT_EQ(message(302, ""),
            "the search engine answered 302: a redirect, which the pipe does not follow");
  EXPECT_EQ(message(500, ""), "the search engine answered 500: no reason given");
  EXPECT_EQ(message(500, R"({"error":{}})"), "the search engine answered 500: no reason given");
  EXPECT_EQ(message(502, "<html>\nBad Gateway</html>"),
            R"(the search engine answered 502: <html>\x0aBad Gateway</html>)");
}

TEST(BulkFailure, IsCut) {
  const std::string text(5'000, '\n');
  EXPECT_LT(failure_of_status(500, text, {}).message.size(), 1'100U);
  EXPECT_LT(failure_of_status(500,
                              R"({"error":{"type":")" + std::string(5'000, 't') +
                                  R"(","reason":")" + std::string(5'000, 'r') + R"("}})",
                              {})
                .message.size(),
            1'100U);
  EXPECT_LT(failure_of_transfer(7, text).message.size(), 1'100U);
}

TEST(BulkFailure, HasStatusAndWhenToTryAgain) {
  const BulkFailure busy = failure_of_status(429, "", Duration{7s});
  EXPECT_EQ(busy.status, 429);
  EXPECT_EQ(busy.retry_after, Duration{7s});
  EXPECT_EQ(failure_of_status(503, "", {}).retry_after, std::nullopt);
}

TEST(BulkFailure, OfATransferHasItsCode) {
  for (const int code : {6, 7, 35, 60})
    EXPECT_EQ(failure_of_transfer(code, "").code, pipe_code::kEsUnavailable) << code;
  for (const int code : {1, 18, 23, 28, 52, 55, 56})
    EXPECT_EQ(failure_of_transfer(code, "").code, pipe_code::kNetwork) << code;
  EXPECT_EQ(failure_of_transfer(7, "refused").message, "refused");
  EXPECT_EQ(failure_of_transfer(7, "").status, 0);
  EXPECT_FALSE(failure_of_transfer(56, "").bisect);
}

}  // namespace
}  // namespace pawl
