#include "core/host/handle_table.h"
#include "support/test.h"

namespace wasinn::core {
namespace {

using Table = HandleTable<int>;

TEST(HandleTable, FindsWhatWasInserted) {
  Table table(HandleKind::kGraph, "graph");
  const auto a = table.Insert(std::make_shared<int>(1)), b = table.Insert(std::make_shared<int>(2));
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, 0u);
  EXPECT_NE(*a, *b);
  EXPECT_EQ(*table.Get(*a).value(), 1);
  EXPECT_EQ(*table.Get(*b).value(), 2);
}

TEST(HandleTable, RefusesDeadAndForgedHandles) {
  Table table(HandleKind::kGraph, "graph");
  const uint32_t live = *table.Insert(std::make_shared<int>(1));
  const uint32_t dead = *table.Insert(std::make_shared<int>(2));
  ASSERT_TRUE(table.Remove(dead));
  EXPECT_FALSE(table.Get(dead));
  EXPECT_FALSE(table.Remove(dead));
  EXPECT_EQ(table.Get(dead).error().code(), WASINN_ERROR_INVALID_ARGUMENT);
  for (uint32_t bit = 0; bit < 32; ++bit) EXPECT_FALSE(table.Get(live ^ (1u << bit))) << bit;
  for (const uint32_t forged : {0u, 1u, 0xffffffffu, 0x7fffffffu}) EXPECT_FALSE(table.Get(forged)) << forged;
}

TEST(HandleTable, HandlesOfAnotherKindAreForged) {
  Table graphs(HandleKind::kGraph, "graph"), contexts(HandleKind::kContext, "context");
  const uint32_t graph = *graphs.Insert(std::make_shared<int>(1));
  const uint32_t context = *contexts.Insert(std::make_shared<int>(2));
  EXPECT_FALSE(contexts.Get(graph));
  EXPECT_FALSE(graphs.Get(context));
}

TEST(HandleTable, AReusedSlotHasANewHandle) {
  Table table(HandleKind::kContext, "context");
  std::set<uint32_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint32_t handle = *table.Insert(std::make_shared<int>(i));
    EXPECT_TRUE(seen.insert(handle).second) << i;
    ASSERT_TRUE(table.Remove(handle));
  }
}

TEST(HandleTable, AnObjectInUseOutlivesItsHandle) {
  Table table(HandleKind::kGraph, "graph");
  const uint32_t handle = *table.Insert(std::make_shared<int>(7));
  const std::shared_ptr<int> user = *table.Get(handle);
  ASSERT_TRUE(table.Remove(handle));
  EXPECT_EQ(*user, 7);
  EXPECT_EQ(user.use_count(), 1);
}

TEST(HandleTable, CloseLeavesNoHandleAndWaitsForTheEndOfEachUse) {
  Table table(HandleKind::kContext, "context");
  const uint32_t handle = *table.Insert(std::make_shared<int>(7)), other = *table.Insert(std::make_shared<int>(8));
  std::optional<Table::Use> use(std::in_place, table, handle), removed(std::in_place, table, other);
  ASSERT_TRUE(table.Remove(other));
  table.Close();
  EXPECT_FALSE(table.Get(handle));
  EXPECT_FALSE(Table::Use(table, handle));
  EXPECT_TRUE(table.has_use());
  EXPECT_EQ(**use, 7);
  std::atomic<bool> ended{false};
  auto unused = std::async(std::launch::async, [&] {
    table.WaitUntilUnused();
    return ended.load();
  });
  removed.reset();
  ended = true;
  use.reset();
  EXPECT_TRUE(unused.get());
  EXPECT_FALSE(table.has_use());
  EXPECT_EQ(table.Clear(), 2u);
}

// Threads use the same handles, which one of them replaces, until another closes the table.
TEST(HandleTable, OneThreadHasAnObjectWhateverMeets) {
  std::atomic<int> alive{0};
  struct Object {
    explicit Object(std::atomic<int>& count) : alive(count) { ++alive; }
    ~Object() { --alive; }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    std::atomic<int>& alive;
    int uses = 0;  // of one thread at a time
  };
  HandleTable<Object> table(HandleKind::kContext, "context");
  std::array<std::atomic<uint32_t>, 3> handles{};
  for (auto& handle : handles) handle = *table.Insert(std::make_shared<Object>(alive));
  std::atomic<int> used{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < 20000; ++i) {
        const HandleTable<Object>::Use use(table, handles[i % handles.size()]);
        if (!use) continue;
        ++(*use).uses;
        ++used;
      }
    });
  }
  threads.emplace_back([&] {
    for (size_t i = 0; i < 2000; ++i) {
      std::atomic<uint32_t>& handle = handles[i % handles.size()];
      EXPECT_TRUE(table.Remove(handle));
      handle = *table.Insert(std::make_shared<Object>(alive));
    }
  });
  threads.back().join();
  threads.pop_back();
  table.Close();
  table.WaitUntilUnused();
  table.Clear();
  EXPECT_EQ(alive, 0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(used, 0);
}

TEST(HandleTable, ClearGivesEverythingBack) {
  Table table(HandleKind::kGraph, "graph");
  const uint32_t handle = *table.Insert(std::make_shared<int>(7));
  EXPECT_EQ(table.Clear(), 1u);
  EXPECT_FALSE(table.Get(handle));
  table.WithEach([](const auto&) { ADD_FAILURE() << "there is still one"; });
}

}  // namespace
}  // namespace wasinn::core
