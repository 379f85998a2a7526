// Where records are looked for, by options, environment and profiles.
#include "cli/place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>

#include "tests/support/temporary_directory.h"

namespace pawl::cli {
namespace {

constexpr const char* kProfiles = R"(
default: {url: "https://pawl.example", token: pawl_d}
test: {url: "http://127.0.0.1:1/", token_env: TEST_TOKEN, ca: own.pem}
filed: {url: "https://filed.example:8443/pawl/", token_file: token}
bare: {url: "https://bare.example"}
clear: {url: "http://pawl.internal", token: pawl_c, insecure: true}
)";

class PlaceTest : public testing::Test {
 protected:
  void write_profiles(const std::string& text, mode_t mode = 0600) {
    std::filesystem::create_directories(temporary.path() / "pawl");
    std::ofstream(path) << text;
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    variables["XDG_CONFIG_HOME"] = temporary.path().string();
  }
  // `URL TOKEN CA`, `directory`, or what is wrong.
  std::string chosen(const GivenPlace& given = {}) {
    const auto place = choose_server(given, [this](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
    if (!place) return place.error().message;
    if (!*place) return "directory";
    return (*place)->url + " " + (*place)->token +
           ((*place)->certificates.empty() ? "" : " " + (*place)->certificates);
  }

  TemporaryDirectory temporary;
  const std::string path = (temporary.path() / "pawl/profiles.yaml").string();
  std::map<std::string, std::string> variables;
};

TEST_F(PlaceTest, WithoutAnythingItIsTheDirectory) {
  EXPECT_EQ(chosen(), "directory");
  EXPECT_EQ(chosen({.directory = "d"}), "directory");
  variables["HOME"] = temporary.path().string();
  EXPECT_EQ(chosen(), "directory");
  variables["PAWL_TOKEN"] = "pawl_e";  // a token alone says nothing of where
  EXPECT_EQ(chosen(), "directory");
  EXPECT_EQ(chosen({.token = "pawl_o"}), "--token is for a server: name it with --url or PAWL_URL");
}

TEST_F(PlaceTest, OptionsGoBeforeTheEnvironmentAndThatBeforeProfiles) {
  write_profiles(kProfiles);
  EXPECT_EQ(chosen(), "https://pawl.example pawl_d");
  variables["PAWL_PROFILE"] = "bare";
  variables["PAWL_TOKEN"] = "pawl_e";
  EXPECT_EQ(chosen(), "https://bare.example pawl_e");
  variables["PAWL_URL"] = "https://there.example/";
  variables["PAWL_CA"] = "there.pem";
  EXPECT_EQ(chosen(), "https://there.example pawl_e there.pem");
  EXPECT_EQ(chosen({.url = "https://o.example"}), "https://o.example pawl_e there.pem");
  EXPECT_EQ(chosen({.url = "https://o.example", .token = "pawl_o", .certificates = "o.pem"}),
            "https://o.example pawl_o o.pem");
  // A profile is a server with its own token.
  EXPECT_EQ(chosen({.profile = "default"}), "https://pawl.example pawl_d there.pem");
  EXPECT_EQ(chosen({.token = "pawl_o", .profile = "default"}),
            "https://pawl.example pawl_o there.pem");
  EXPECT_EQ(chosen({.directory = "d"}), "directory");
}

TEST_F(PlaceTest, ADirectoryAndAServerAreOneTooMany) {
  const std::string both =
      "--dir names a local directory; --url, --token and --profile name a server: give one or the "
      "other";
  EXPECT_EQ(chosen({.directory = "d", .url = "https://o.example"}), both);
  EXPECT_EQ(chosen({.directory = "d", .token = "pawl_o"}), both);
  EXPECT_EQ(chosen({.directory = "d", .profile = "default"}), both);
}

TEST_F(PlaceTest, AProfileSaysWhereItsTokenIs) {
  write_profiles(kProfiles);
  EXPECT_EQ(
      chosen({.profile = "test"}),
      "the environment variable `TEST_TOKEN`, which should contain the access token, is not set");
  variables["TEST_TOKEN"] = "pawl_t";
  EXPECT_EQ(chosen({.profile = "test"}), "http://127.0.0.1:1 pawl_t own.pem");
  const std::string file = (temporary.path() / "pawl/token").string();
  EXPECT_EQ(chosen({.profile = "filed"}),
            "the file `" + file + "`, which holds a secret, cannot be read or is empty");
  std::ofstream(file) << "pawl_f\n";
  EXPECT_EQ(chosen({.profile = "filed"}), "https://filed.example:8443/pawl pawl_f");
  EXPECT_EQ(chosen({.profile = "bare"}),
            "no access token for https://bare.example: set PAWL_TOKEN, or add it to a profile");
  EXPECT_EQ(chosen({.profile = "tset"}), path + " has no profile `tset`; did you mean test?");
}

TEST_F(PlaceTest, ProfilesThatOthersMayReadAreRefused) {
  write_profiles(kProfiles, 0640);
  const std::string refused =
      path + " contains an access token and is open to other users: run chmod 600 " + path;
  EXPECT_EQ(chosen(), refused);
  EXPECT_EQ(chosen({.profile = "bare"}), refused);
  write_profiles(kProfiles, 0604);
  EXPECT_EQ(chosen(), refused);
  write_profiles("default: {url: \"https://o.example\", token_env: T}\n", 0644);
  variables["T"] = "pawl_t";
  EXPECT_EQ(chosen(), "https://o.example pawl_t");
}

TEST_F(PlaceTest, ProfilesThatAreWrongAreSaidWithTheirPlace) {
  write_profiles("default:\n  url: https://o.example\n  tokn: pawl_secret\n");
  EXPECT_EQ(chosen(), path + ":3:3: 'tokn' is not a key of a profile; did you mean token?");
  write_profiles("default: {token: pawl_secret}\n");
  EXPECT_EQ(chosen(), path + ":1:10: a profile needs the key `url`");
  write_profiles("default: {url: \"https://o.example\", token: pawl_secret, token_env: T}\n");
  EXPECT_EQ(chosen().find("pawl_secret"), std::string::npos) << chosen();
  EXPECT_TRUE(chosen().starts_with(path + ":1:")) << chosen();
  std::filesystem::remove(path);
  EXPECT_EQ(chosen({.profile = "test"}), "there is no profile `test`: add it to " + path);
}

TEST_F(PlaceTest, ATokenDoesNotCrossTheNetworkInTheClear) {
  for (const char* url : {"http://127.0.0.1:7295", "http://localhost:7295", "http://[::1]:7295",
                          "http://127.1.2.3", "https://pawl.example"})
    EXPECT_EQ(chosen({.url = url, .token = "pawl_o"}), url + std::string(" pawl_o"));
  for (const char* host : {"pawl.example", "10.0.0.1", "127.0.0.1.example", "localhost.example"})
    EXPECT_EQ(chosen({.url = "http://" + std::string(host) + ":7295", .token = "pawl_o"}),
              "the access token would be sent to " + std::string(host) +
                  " unencrypted: use https://, or give --insecure if something else encrypts the "
                  "traffic");
  EXPECT_EQ(chosen({.url = "http://pawl.example", .token = "pawl_o", .insecure = true}),
            "http://pawl.example pawl_o");
  write_profiles(kProfiles);
  EXPECT_EQ(chosen({.profile = "clear"}), "http://pawl.internal pawl_c");
}

TEST_F(PlaceTest, WhatIsNoAddressOrNoTokenIsSaid) {
  const auto wrong = [](const std::string& url) {
    return "'" + url + "' is not the URL of a server; write http://127.0.0.1:7295 or https://HOST";
  };
  for (const char* url : {"pawl.example", "ftp://pawl.example", "https://pawl.example?x=1",
                          "https://pawl.example#x", "https://", "https://a b"})
    EXPECT_EQ(chosen({.url = url, .token = "pawl_o"}), wrong(url));
  EXPECT_EQ(chosen({.url = "https://ann:pawl_secret@pawl.example", .token = "pawl_o"}),
            "the URL of a server must not contain a user or password: use an access token");
  EXPECT_EQ(chosen({.url = "https://o.example", .token = "pawl_o\r\nX: y"}),
            "the access token for https://o.example contains invalid characters");
  for (const char* name : {"PAWL_URL", "PAWL_TOKEN", "PAWL_PROFILE", "PAWL_CA"}) {
    variables = {{name, ""}};
    EXPECT_EQ(chosen(), std::string(name) + " is empty: give it a value or unset it");
  }
}

}  // namespace
}  // namespace pawl::cli
