#include "cli/serve_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace pawl::cli {
namespace {

std::string findings(const std::string& text) {
  ServeConfig config;
  Diagnostics diagnostics;
  read_config_file(text, config, diagnostics);
  std::string all;
  for (const Diagnostic& finding : diagnostics.sorted())
    all += std::to_string(finding.position.line) + ": " + finding.message + "\n";
  return all;
}

TEST(ServeConfig, AFileSaysEverything) {
  ServeConfig config;
  Diagnostics diagnostics;
  read_config_file(R"(
dir: /var/lib/pawl
listen: 0.0.0.0:80
insecure_listen: true
grace: 1m
task_threads: 3
apply: [a.yaml, b.yaml]
alerts: ops
outside:
  hosts: [api.example.org, "*.example.net:8443"]
  networks: [10.1.0.0/16]
channels:
  ops: {alert: pagerduty, key: env:PD}
  office: {webhook: https://example.org/hook, key: file:/run/key, ordered: true}
  chat: {alert: slack, url: env:CHAT}
  people: {mail: "smtp://mail.example.org:587", from: a@example.org, to: [b@example.org]}
  bell: {exec: [/usr/bin/ring, "-l"], timeout: 5s}
  audit: {log: true}
)",
                   config, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.sorted().front().message;
  EXPECT_EQ(config.directory, "/var/lib/pawl");
  EXPECT_EQ(config.listen.address, "0.0.0.0");
  EXPECT_EQ(config.listen.port, 80);
  EXPECT_TRUE(config.insecure_listen);
  EXPECT_EQ(config.grace, Duration{std::chrono::minutes{1}});
  EXPECT_EQ(config.task_threads, 3);
  EXPECT_EQ(config.apply, (std::vector<std::string>{"a.yaml", "b.yaml"}));
  EXPECT_EQ(config.outside.hosts.size(), 2U);
  EXPECT_EQ(config.outside.networks.size(), 1U);
  EXPECT_EQ(config.channels.size(), 6U);
  EXPECT_TRUE(config.channels.at("office").is_ordered);
  EXPECT_FALSE(config.channels.at("people").is_ordered);
  const auto channels = channels_of(config, Door({}), [](const std::string&) {});
  ASSERT_TRUE(channels) << channels.error().message;
  EXPECT_EQ(channels->size(), 6U);
}

TEST(ServeConfig, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_NE(findings("lisen: x").find("1: "), std::string::npos);
  EXPECT_NE(findings("lisen: x").find("did you mean listen"), std::string::npos);
  EXPECT_NE(findings("grace: soon").find("1: "), std::string::npos);
  EXPECT_EQ(findings("listen: localhost"), "1: 'localhost' has no port: write localhost:7295\n");
  EXPECT_NE(findings("listen: 80").find("1: "), std::string::npos);
  EXPECT_EQ(findings("task_threads: 0"), "1: expected a whole number from 1 to 128, found 0\n");
  EXPECT_EQ(findings("task_threads: 128"), "");
  EXPECT_EQ(findings("task_threads: 129"), "1: expected a whole number from 1 to 128, found 129\n");
  EXPECT_NE(findings("outside: {networks: [10.0.0.0/99]}").find("not a network"),
            std::string::npos);
  EXPECT_NE(findings("channels: {a: {}}").find("1: "), std::string::npos);
  EXPECT_NE(findings("channels: {a: {log: true, mail: x}}").find("1: "), std::string::npos);
  EXPECT_NE(findings("channels: {A: {log: true}}").find("1: "), std::string::npos);
  const std::string said = findings("channels: {a: {webhook: https://x, key: hunter2}}");
  EXPECT_NE(said.find("env:NAME or file:PATH"), std::string::npos);
  EXPECT_EQ(said.find("hunter2"), std::string::npos);
}

TEST(ServeConfig, RecordsAreInADirectoryOrInMemory) {
  ServeConfig config;
  EXPECT_EQ(*directory_of(config), "pawl-data");
  config.directory = "/var/lib/pawl";
  EXPECT_EQ(*directory_of(config), "/var/lib/pawl");
  config.in_memory = true;
  const auto both = directory_of(config);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().message,
            "`memory` keeps nothing on disk, but `dir` is '/var/lib/pawl': remove one of the two");
  config.directory.clear();
  EXPECT_EQ(*directory_of(config), "");
  EXPECT_NE(findings("dir: ''"), "") << "what is empty by mistake is not kept in memory";
}

TEST(ServeConfig, TheLargestBodyIsASize) {
  ServeConfig config;
  EXPECT_EQ(config.body_max, std::size_t{8} << 20U);
  Diagnostics diagnostics;
  read_config_file("body_max: 64KiB", config, diagnostics);
  EXPECT_EQ(config.body_max, std::size_t{64} << 10U);
  const auto environment = [](const char* name) {
    return std::string_view(name) == "PAWL_BODY_MAX" ? "65MiB" : nullptr;
  };
  const auto read = read_environment(environment, config);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "PAWL_BODY_MAX: expected a size from 1KiB to 64MiB, found '65MiB'");
  EXPECT_EQ(findings("body_max: much").substr(0, 24), "1: 'much' is not a size;");
}

TEST(ServeConfig, AChannelThatLacksSomethingIsNamed) {
  for (const char* text :
       {"channels: {odd: {alert: slack}}", "channels: {odd: {alert: opsgenie}}",
        "channels: {odd: {mail: smtp://x, from: a}}", "channels: {odd: {mail: smtp://x, to: [a]}}",
        "channels: {odd: {mail: smtp://x, from: a, to: [a], user: u}}",
        "channels: {odd: {exec: []}}"}) {
    ServeConfig config;
    Diagnostics diagnostics;
    read_config_file(text, config, diagnostics);
    ASSERT_FALSE(diagnostics.has_errors()) << text;
    const auto channels = channels_of(config, Door({}), [](const std::string&) {});
    ASSERT_FALSE(channels) << text;
    EXPECT_NE(channels.error().message.find("`odd`"), std::string::npos);
  }
}

TEST(ServeConfig, TheEnvironmentSaysWhatAFlagCan) {
  ServeConfig config;
  const std::map<std::string, std::string> variables{{"PAWL_LISTEN", "127.0.0.1:1"},
                                                     {"PAWL_MEMORY", "true"},
                                                     {"PAWL_APPLY", "a.yaml,b.yaml"},
                                                     {"PAWL_TASK_THREADS", "9"}};
  const auto environment = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  ASSERT_TRUE(read_environment(environment, config));
  EXPECT_EQ(config.listen.port, 1);
  EXPECT_TRUE(config.in_memory);
  EXPECT_EQ(config.apply.size(), 2U);
  EXPECT_EQ(config.task_threads, 9);
  const auto wrong = read_environment(
      [](const char* name) { return std::string_view(name) == "PAWL_GRACE" ? "soon" : nullptr; },
      config);
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().message.starts_with("PAWL_GRACE: ")) << wrong.error().message;
}

std::string checked(const std::vector<std::string>& variables, const ServeConfig& config = {}) {
  const auto checked = check_variables(variables, config);
  return checked ? "" : checked.error().message;
}

TEST(ServeConfig, AVariableThatNobodyReadsIsAnError) {
  EXPECT_EQ(checked({"HOME=/", "PAWL_LISTN=127.0.0.1:1"}),
            "unknown environment variable PAWL_LISTN; did you mean PAWL_LISTEN?");
  EXPECT_EQ(checked({"PAWL_TOKN=secret"}),
            "unknown environment variable PAWL_TOKN; did you mean PAWL_TOKEN?");
  EXPECT_EQ(
      checked({"PAWL_WEATHER=fine"}),
      "unknown environment variable PAWL_WEATHER: unset it; docs/reference/server.md lists the "
      "known ones");
  EXPECT_EQ(checked({"PAWL_CHANNELS={}"}),
            "PAWL_CHANNELS: `channels` can only be set in a file: use --config FILE");
  EXPECT_NE(checked({"PAWL_PORT=80"}), "");
}

TEST(ServeConfig, VariablesOfOthersAreLeftAlone) {
  EXPECT_EQ(checked({"PAWL=1", "MY_PAWL_LISTN=1", "PAWLS_X=1", "PAWL_LISTEN=127.0.0.1:1"}), "");
  for (const char* name : {"PAWL_URL", "PAWL_TOKEN", "PAWL_PROFILE", "PAWL_CA", "PAWL_MACHINE",
                           "PAWL_KEY", "PAWL_TASK", "PAWL_QUEUE", "PAWL_ATTEMPT", "PAWL_FENCE",
                           "PAWL_ATTEMPT_TOKEN", "PAWL_DEADLINE_AT", "PAWL_IDEMPOTENCY_KEY",
                           "PAWL_PROGRESS", "PAWL_DELIVERY", "PAWL_CHANNEL"})
    EXPECT_EQ(checked({std::string(name) + "=x"}), "") << name;
  for (const char* made : {"PAWL_SERVICE_HOST=10.0.0.1", "PAWL_SERVICE_PORT_HTTP=7295",
                           "PAWL_PORT=tcp://10.0.0.1:7295", "PAWL_PORT_7295_TCP_ADDR=10.0.0.1",
                           "PAWL_DB_SERVICE_HOST=10.0.0.2"})
    EXPECT_EQ(checked({made}), "") << made;
}

TEST(ServeConfig, ASecretOfTheConfigurationMayHaveAnyName) {
  ServeConfig config;
  Diagnostics diagnostics;
  read_config_file(R"(
channels:
  a: {webhook: env:PAWL_HOOK, key: env:PAWL_HOOK_KEY}
  b: {mail: "smtp://x", from: a, to: [a], user: u, password: env:PAWL_MAIL_WORD}
)",
                   config, diagnostics);
  ASSERT_FALSE(diagnostics.has_errors());
  const std::vector<std::string> variables{"PAWL_HOOK=x", "PAWL_HOOK_KEY=x", "PAWL_MAIL_WORD=x"};
  EXPECT_EQ(checked(variables, config), "");
  EXPECT_NE(checked(variables), "");
}

// One documented table.
TEST(ServeConfig, EveryKeyIsInTheReference) {
  std::ifstream file(PAWL_SOURCE_DIR "/docs/reference/server.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  for (const KeyOf<ServeConfig>& key : serve_keys().keys) {
    const std::string row = "| `" + std::string(key.key.name) + "` | " + std::string(key.key.doc);
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace pawl::cli
