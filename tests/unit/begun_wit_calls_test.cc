// begin of wasinn/wit.h: calls of a component that no thread waits for, and their ends.
#include <wasinn/wit.h>

#include "support/echo.h"
#include "unit/no_memory.h"
#include "unit/wit_guest.h"

namespace wasinn::testing {
namespace {

// A compute by the older version's steps, from its beginning to its end.
class BegunWit {
 public:
  BegunWit(wasinn_guest* guest, uint32_t context) : guest_(guest), context_(context) {}
  ~BegunWit() { wasinn_status_free(status_); }
  BegunWit(const BegunWit&) = delete;
  BegunWit& operator=(const BegunWit&) = delete;

  wasinn_status* TryBegin() { return wit_->begin(guest_, &BegunWit::Run, this); }
  // "", or the trap because of which it has not begun.
  std::string Begin() {
    const StatusPtr status(TryBegin());
    return status == nullptr ? "" : wasinn_status_message(status.get());
  }
  bool is_done() const { return done_; }
  // The trap, "an error", or "".
  std::string Await() const {
    done_.wait(false);
    if (status_ != nullptr) return wasinn_status_message(status_);
    return out_.is_error != 0 ? "an error" : "";
  }

 private:
  static void Run(void* user) {
    auto* self = static_cast<BegunWit*>(user);
    self->status_ = self->wit_->context_compute_set(self->guest_, self->context_, &self->out_);
    EXPECT_FALSE(self->done_.exchange(true)) << "once";
    self->done_.notify_all();
  }

  const wasinn_wit_functions* const wit_ = wasinn_wit();
  wasinn_guest* const guest_;
  const uint32_t context_;
  wasinn_status* status_ = nullptr;
  wasinn_wit_result out_{};
  std::atomic<bool> done_{false};
};

class BegunWitCalls : public ::testing::Test {
 protected:
  BegunWitCalls() { AddEchoModel(host_.get(), "one", "in x f32 1\n"); }

  struct Program {
    explicit Program(wasinn_host* host) : guest(NewGuest(host)), calls(guest.get()) {}
    uint32_t NewContext(std::string_view model) {
      const uint32_t context = calls.ContextOf(model);
      EXPECT_TRUE(calls.SetInput(context, "x", calls.Floats({1}, {7}).rep).ok());
      return context;
    }
    GuestPtr guest;
    WitGuest calls;
  };

  Log log_;
  HostPtr host_ = EchoHost(log_, "call_threads = 1\nlimits.compute_timeout_ms = 0\n");
};

TEST_F(BegunWitCalls, ReturnWhatDirectCallsReturn) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("one");
  BegunWit good(program.guest.get(), context), bad(program.guest.get(), 12345);
  EXPECT_EQ(good.Begin(), "");
  EXPECT_EQ(good.Await(), "");
  EXPECT_EQ(program.calls.FloatData(program.calls.GetOutput(context, "x").rep), std::vector<float>{7});
  EXPECT_EQ(bad.Begin(), "");
  EXPECT_EQ(bad.Await(), "an error");
}

TEST_F(BegunWitCalls, OfNoGuestAndOfAClosedOneAreRefused) {
  Program program(host_.get());
  BegunWit call(program.guest.get(), program.NewContext("one")), nobodys(nullptr, 1);
  wasinn_guest_close(program.guest.get());
  EXPECT_THAT(call.Begin(), HasSubstr("the guest is closed"));
  EXPECT_THAT(nobodys.Begin(), HasSubstr("not known to wasinn"));
  EXPECT_FALSE(call.is_done() || nobodys.is_done());
}

// Each end is reported once, even if the guest is closed at that moment.
TEST_F(BegunWitCalls, EndOnceIfTheirGuestEndsAsTheyBegin) {
  for (int round = 0; round < 60; ++round) {
    Program program(host_.get());
    const std::vector<uint32_t> contexts = {program.NewContext("one"), program.NewContext("one")};
    std::atomic<int> begun{0};
    std::vector<std::jthread> threads;
    for (const uint32_t context : contexts) {
      threads.emplace_back([&program, &begun, context] {
        for (bool refused = false; !refused; ++begun) {
          BegunWit call(program.guest.get(), context);
          refused = !call.Begin().empty();
          if (!refused) (void)call.Await();
        }
      });
    }
    while (begun < 10) std::this_thread::yield();
    wasinn_guest_close(program.guest.get());
  }
}

TEST_F(BegunWitCalls, WithoutMemoryEachIsRefusedOrEnds) {
  Program program(host_.get());
  const uint32_t context = program.NewContext("one");
  for (int allowed = 0, failed = 1; failed > 0; ++allowed) {
    BegunWit call(program.guest.get(), context);
    bool refused = false;
    {
      const NoMemory scarce(allowed, INT_MAX);
      wasinn_status* status = call.TryBegin();
      failed = NoMemory::failed();
      refused = status != nullptr;
      wasinn_status_free(status);
    }
    EXPECT_EQ(refused, failed > 0) << allowed;
    if (refused) {
      EXPECT_FALSE(call.is_done()) << "it has not begun";
    } else {
      EXPECT_EQ(call.Await(), "");
    }
  }
}

}  // namespace
}  // namespace wasinn::testing
