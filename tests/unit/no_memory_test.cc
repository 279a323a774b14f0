// Without memory nothing is left half done.
#include "no_memory.h"

#include <malloc.h>

#include "core/host/handle_table.h"
#include "core/inference/context.h"
#include "core/inference/shared_tensor.h"
#include "core/memory/buffer_pool.h"
#include "core/models/blob.h"
#include "core/models/model_registry.h"
#include "support/echo.h"
#include "support/this_build.h"
#include "unit/direct_context.h"
#include "unit/turned_host.h"
#include "wit_guest.h"

namespace wasinn::testing {
namespace {

TEST(OutOfMemory, HandlesAreRemovedWithoutAny) {
  core::HandleTable<int> table(core::HandleKind::kTensor, "tensor");
  std::vector<uint32_t> handles;
  for (int i = 0; i < 2000; ++i) handles.push_back(*table.Insert(std::make_shared<int>(i)));
  for (size_t i = 0; i < handles.size(); ++i) {
    const NoMemory none(0);
    const auto removed = table.Remove(handles[i]);
    ASSERT_TRUE(removed);
    ASSERT_EQ(**removed, static_cast<int>(i));
  }
  for (const uint32_t handle : handles) EXPECT_FALSE(table.Get(handle));
}

TEST(OutOfMemory, AModelThatWasNotRegisteredIsNotThere) {
  core::ModelRegistry registry;
  const auto source = [] { return core::ModelSource{{.name = "a model with a name that needs memory of its own"}}; };
  core::ModelSource given;
  const int failures = FailEachAllocation(
      [&] {
        given = source();
        ASSERT_TRUE(registry.Add(std::move(given)).ok());
      },
      [&] {
        EXPECT_EQ(registry.All().size(), 0u);
        const auto found = registry.Find(source().name);
        ASSERT_FALSE(found);
        EXPECT_EQ(found.error().code(), WASINN_ERROR_NOT_FOUND);
      });
  EXPECT_GT(failures, 2);
  EXPECT_TRUE(registry.Find(source().name));
}

// Buffers go back to the pool where nothing may throw.
TEST(OutOfMemory, BuffersGoBackToThePool) {
  const auto pool = core::BufferPool::Create();
  std::vector<core::BufferPool::Buffer> buffers(2 * core::BufferPool::kMaxBlocks);
  for (auto& buffer : buffers) buffer = pool->Take(1, 1000);
  const NoMemory none(0);
  while (!buffers.empty()) buffers.pop_back();
}

// The echo backend, but for a compute that fails with a message of some length, and a cancel that counts.
std::atomic<int> cancels{0};
wasinn_backend FailingEcho() {
  wasinn_backend table = EchoTable();
  table.compute = [](wasinn_backend_slot*, const wasinn_compute_options*, wasinn_compute_result*) {
    static wasinn_error error{sizeof error, WASINN_ERROR_RUNTIME, "a message of so many bytes needs memory of its own",
                              [](wasinn_error*) {}};
    return &error;
  };
  table.cancel = [](wasinn_backend_slot*) { ++cancels; };
  return table;
}

// A backend's cancel is for the time of its own call, however that ended.
TEST(OutOfMemory, ABackendThatWasLeftIsNotCancelled) {
  const core::Logger logger;
  core::Clock::Hands hands;
  core::Watchdog dog(core::Watchdog::StartUsualThread, core::Clock(hands));
  auto backend = core::Backend::Open(FailingEcho(), logger, 1, "{}");
  ASSERT_TRUE(backend);
  const std::string text = EchoModel("in x f32 1 optional\nturns 0\n");
  const std::shared_ptr<const core::Blob> blob =
      core::Blob::Copy({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  auto graph = core::Graph::Load(*backend, {&blob, 1}, {.encoding = "ggml"}, dog);
  ASSERT_TRUE(graph);
  core::Quota bytes("bytes", "limit", UINT64_MAX);
  const auto pool = core::BufferPool::Create();
  core::Scheduler scheduler(1);
  core::Scheduler::Share share, other;
  auto context = core::Context::Create(*graph, {.compute_deadline = std::chrono::milliseconds(30)},
                                       {bytes, *pool, 1, dog, scheduler, share});
  ASSERT_TRUE(context);
  EXPECT_EQ((*context)->Compute(nullptr).code(), WASINN_ERROR_RUNTIME);
  {
    const NoMemory none(0);
    EXPECT_THROW((void)(*context)->Compute(nullptr), std::bad_alloc);
  }
  core::Scheduler::Waiter waiter;
  const core::Scheduler::Turn turn(scheduler, other, waiter), of_model(scheduler, other, waiter, (*graph)->turns());
  cancels = 0;
  auto waits = std::async(std::launch::async, [&] { return (*context)->Compute(nullptr).code(); });
  EXPECT_EQ(TurnUntilDone(hands, waits), WASINN_ERROR_TIMEOUT) << "it waits for a turn";
  EXPECT_EQ(cancels, 0);
}

// Memory that is kept for the next tensor is charged to no guest, so it is little compared with a guest's limit.
TEST(Held, MemoryForTheNextTensorIsAPartOfTheLimit) {
  constexpr size_t kMebi = size_t{1} << 20;
  const LoggedHost host("[limits]\nmax_tensor_bytes = 83886080\n");
  const GuestPtr guest = NewGuest(host.get());
  WitGuest program(guest.get());
  const std::vector<uint8_t> bytes(16 * kMebi);
  const auto allocated = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const size_t before = allocated();
  std::vector<Outcome> tensors;
  for (int i = 0; i < 4; ++i) tensors.push_back(program.Tensor({static_cast<uint32_t>(bytes.size())}, kWitU8, bytes));
  for (const Outcome& tensor : tensors) {
    ASSERT_TRUE(tensor.ok()) << tensor;
    EXPECT_EQ(program.DropTensor(tensor.rep), "");
  }
  EXPECT_LT(allocated(), before + 6 * kMebi);
}

TEST(OutOfMemory, AnOutputThatCouldNotBeTakenStays) {
  Direct d("in x u8 256 bindable\nturns 0\n");
  auto context = d.New();
  ASSERT_TRUE(context->SetInput(0, d.Tensor(std::vector<uint8_t>(256, 7))).ok());
  ASSERT_TRUE(context->Compute(nullptr).ok());
  core::TensorPtr taken;
  std::vector<core::BufferPool::Buffer> others;
  FailEachAllocation([&] { taken = *context->TakeOutput(0); },
                     [&] {
                       others.push_back(d.pool->Take(2, 256));
                       std::memset(others.back().data(), 0x55, 256);
                       std::vector<uint8_t> out(256);
                       uint64_t size = 0;
                       ASSERT_TRUE(context->GetOutput(0, out, size).ok());
                       EXPECT_EQ(out[0], 7);
                       ASSERT_TRUE(context->Compute(nullptr).ok());
                       EXPECT_EQ(others.back().data()[0], 0x55) << "of another guest";
                     });
}

}  // namespace
}  // namespace wasinn::testing
