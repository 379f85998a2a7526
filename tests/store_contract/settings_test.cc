// What is not of a record: machines and settings.
#include "opened_store.h"

namespace pawl {
namespace {

class SettingsTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, SettingsTest, testing::ValuesIn(store_kinds()), name_of);

TEST_P(SettingsTest, AVersionOfAMachineNeverChanges) {
  EXPECT_TRUE(*store->put_machine({"order", 1, "machine: order"}));
  EXPECT_TRUE(*store->put_machine({"order", 1, "machine: order"}));
  EXPECT_FALSE(*store->put_machine({"order", 1, "machine: other"}));
  EXPECT_TRUE(*store->put_machine({"order", 2, "machine: other"}));
  EXPECT_TRUE(*store->put_machine({"item", 1, "machine: item"}));
  EXPECT_EQ((*store->machine("order", 1))->text, "machine: order");
  EXPECT_EQ(*store->machine("order", 3), std::nullopt);
  EXPECT_EQ(*store->machines(),
            (std::vector<StoredMachine>{{"item", 1, ""}, {"order", 1, ""}, {"order", 2, ""}}));
}

TEST_P(SettingsTest, WhoAppliedAVersionFirstIsKept) {
  const StoredMachine applied{"order", 3, "machine: third", Instant{std::chrono::hours{9}}, "ann"};
  StoredMachine again = applied;
  again.applied_by = "bob";
  EXPECT_TRUE(*store->put_machine(applied));
  EXPECT_TRUE(*store->put_machine(again));
  EXPECT_EQ(*store->machine("order", 3), applied);
  StoredMachine listed = applied;
  listed.text.clear();
  EXPECT_EQ(*store->machines(), std::vector{listed});
}

TEST_P(SettingsTest, SeveralMachinesAreKeptTogetherOrNotAtAll) {
  const auto put = [&](const std::vector<StoredMachine>& machines) {
    return *store->put_machines(machines);
  };
  EXPECT_TRUE(put({}));
  EXPECT_TRUE(put({{"order", 1, "one"}, {"item", 1, "one"}, {"order", 1, "one"}}));
  EXPECT_FALSE(put({{"order", 2, "two"}, {"item", 1, "other"}}));
  EXPECT_FALSE(put({{"order", 3, "three"}, {"order", 3, "other"}}));
  EXPECT_FALSE(put({{"order", 3, "other"}, {"item", 2, "two"}, {"order", 3, "three"}}));
  EXPECT_EQ(*store->machines(), (std::vector<StoredMachine>{{"item", 1, ""}, {"order", 1, ""}}));
  EXPECT_EQ((*store->machine("item", 1))->text, "one");
  EXPECT_TRUE(put({{"order", 1, "one"}, {"order", 2, "two"}}));
  EXPECT_EQ((*store->machine("order", 2))->text, "two");
}

TEST_P(SettingsTest, ASettingIsComparedBeforeItIsChanged) {
  EXPECT_EQ(*store->put_setting({"pause/order", R"({"by":"eve"})", 0}),
            (Setting{"pause/order", R"({"by":"eve"})", 1}));
  EXPECT_EQ(*store->put_setting({"pause/order", "{}", 0}),
            (Setting{"pause/order", R"({"by":"eve"})", 1}));
  EXPECT_EQ(*store->put_setting({"pause/order", "{}", 1}), (Setting{"pause/order", "{}", 2}));
  EXPECT_EQ(*store->settings("pause/"), (std::vector<Setting>{{"pause/order", "{}", 2}}));
  EXPECT_TRUE(store->settings("token/")->empty());
}

TEST_P(SettingsTest, ASettingThatWasTakenBackKeepsItsRevision) {
  (void)store->put_setting({"pause", "{}", 0});
  EXPECT_EQ(store->put_setting({"pause", "", 1})->revision, 2);
  EXPECT_TRUE(store->settings("")->empty());
  EXPECT_EQ(store->put_setting({"pause", "{}", 0})->revision, 2);
  EXPECT_EQ(store->put_setting({"pause", "{}", 2})->revision, 3);
}

}  // namespace
}  // namespace pawl
