// A guest that ends the workers of a shared model waits for the next one; others do not.
#include "core/isolation/isolated_backend.h"

#include "unit/isolated_program.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

using isolation::Backoffs;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kBad = 7, kGood = 8;

class BackoffsTest : public ::testing::Test {
 protected:
  void Add(std::vector<uint64_t> guests, int times = 1) {
    for (int i = 0; i < times; ++i) backoffs_.AddDeath(guests, now_);
  }

  Backoffs backoffs_;
  Backoffs::Time now_;
};

TEST_F(BackoffsTest, AnOnlyGuestWaitsLongerAndLonger) {
  for (const int wait : {1, 2, 4, 8, 16, 32, 60, 60}) {
    Add({kBad}, 3);
    EXPECT_THAT(backoffs_.Left(kBad, now_), Optional(milliseconds(seconds(wait))));
    EXPECT_EQ(backoffs_.Left(kGood, now_), std::nullopt);
    EXPECT_EQ(backoffs_.Left(0, now_), std::nullopt) << "loads go on";
    now_ += seconds(wait);
    EXPECT_EQ(backoffs_.Left(kBad, now_), std::nullopt);
  }
}

TEST_F(BackoffsTest, AModelThatDiesByItselfHoldsUpAll) {
  Add({}, 3);
  EXPECT_THAT(backoffs_.Left(0, now_), Optional(milliseconds(1000)));
}

// It had calls there at the same times, and computed in between.
TEST_F(BackoffsTest, AGuestThatSucceedsInBetweenIsCleared) {
  for (int i = 0; i < 20; ++i) {
    Add({kBad, kGood});
    backoffs_.Clear(kGood);
  }
  EXPECT_NE(backoffs_.Left(kBad, now_), std::nullopt);
  EXPECT_EQ(backoffs_.Left(kGood, now_), std::nullopt);
}

TEST_F(BackoffsTest, AGuestWithSuccessesInBetweenOnlyWaitsAfterManyDeaths) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(backoffs_.Left(kBad, now_), std::nullopt) << i;
    Add({kBad});
    backoffs_.Clear(kBad);
  }
  EXPECT_NE(backoffs_.Left(kBad, now_), std::nullopt);
}

// It may have many clients, as a server has.
TEST_F(BackoffsTest, TheOnlyGuestWaitsAfterManyDeaths) {
  Backoffs backoffs(true);
  for (int i = 0; i < 49; ++i) backoffs.AddDeath(std::vector<uint64_t>{kBad, kGood}, now_);
  EXPECT_EQ(backoffs.Left(kBad, now_), std::nullopt);
  backoffs.AddDeath(std::vector<uint64_t>{kBad}, now_);
  EXPECT_NE(backoffs.Left(kBad, now_), std::nullopt);
}

TEST_F(BackoffsTest, DeathsLongAgoAreForgotten) {
  for (int i = 0; i < 10; ++i) {
    Add({kBad});
    now_ += seconds(6);
  }
  EXPECT_EQ(backoffs_.Left(kBad, now_), std::nullopt);
}

constexpr std::string_view kDies = "in x f32 1\ndies compute\n";

class BackoffsOfGuests : public Isolation {
 protected:
  HostPtr Host() { return TurnedHost(hands_, log, "isolate_models = true\nworker = '" + WorkerFile() + "'\n"); }
  static std::vector<float> InferWithNewContext(Program& program, std::string_view name) {
    return program.Infer(program.NewContext(name), {1});
  }

  core::Clock::Hands hands_;
};

TEST_F(BackoffsOfGuests, OthersHaveANamedModelAtOnce) {
  const HostPtr host = Host();
  AddEchoModel(host.get(), "m", kDies);
  Program bad(host.get()), good(host.get());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(InferWithNewContext(bad, "m").empty());
  uint32_t graph = 0, context = 0;
  EXPECT_EQ(bad.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(bad.InitContext(graph, context), kRuntimeError);
  EXPECT_THAT(log.lines(),
              Contains(HasSubstr("unavailable: echo: calls of this guest ended its worker 3 times in a row: "
                                 "it has none for 1000 ms more")));
  EXPECT_EQ(good.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(good.InitContext(graph, context), kSuccess);
  hands_.Turn(seconds(1));
  EXPECT_EQ(bad.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(bad.InitContext(graph, context), kSuccess);
}

GuestPtr OnBehalfOf(wasinn_host* host, wasinn_guest* guest) {
  wasinn_guest_options options = {};
  options.struct_size = sizeof options;
  options.on_behalf_of = guest;
  return NewGuest(host, &options);
}

TEST_F(BackoffsOfGuests, GuestsOnBehalfOfOneAreThatOne) {
  const HostPtr host = Host();
  AddEchoModel(host.get(), "m", kDies);
  GuestPtr tenant = NewGuest(host.get());
  for (int i = 0; i < 3; ++i) {
    Program program(OnBehalfOf(host.get(), tenant.get()));
    EXPECT_TRUE(InferWithNewContext(program, "m").empty());
  }
  Program next(OnBehalfOf(host.get(), tenant.get())), other(host.get());
  tenant.reset();
  uint32_t graph = 0, context = 0;
  EXPECT_EQ(next.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(next.InitContext(graph, context), kRuntimeError);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("calls of this guest ended its worker 3 times in a row")));
  EXPECT_EQ(other.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(other.InitContext(graph, context), kSuccess);
}

TEST_F(BackoffsOfGuests, AGuestOnBehalfOfAClosedOneOrAnotherHostsIsRefused) {
  const HostPtr host = Host(), other = Host();
  const GuestPtr closed = NewGuest(host.get()), of_other = NewGuest(other.get());
  wasinn_guest_close(closed.get());
  for (const auto& [guest, why] :
       {std::pair(closed.get(), "on_behalf_of: expected an open guest, got a closed one"),
        std::pair(of_other.get(), "on_behalf_of: expected a guest of this host, got another host's")}) {
    wasinn_guest_options options = {};
    options.struct_size = sizeof options;
    options.on_behalf_of = guest;
    wasinn_guest* made = nullptr;
    const StatusPtr status(wasinn_guest_new(host.get(), &options, &made));
    EXPECT_EQ(wasinn_status_code(status.get()), WASINN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(wasinn_status_message(status.get()), HasSubstr(why));
  }
}

// The guest for whose compute the host ended the worker is to blame, and no other guest.
TEST_F(BackoffsOfGuests, AGuestThatDoesNotStopInTimeIsToBlame) {
  const HostPtr host = Host();
  AddEchoModel(host.get(), "m", "in x f32 1\nturns 0\ndeaf\ndelay 3600000\n");
  Program good(host.get());
  Program bad(NewGuest(host.get(), &wasinn_limits::compute_timeout_ms, 50));
  for (int i = 0; i < 3; ++i) {
    auto beside = std::async(std::launch::async, [&] { return InferWithNewContext(good, "m"); });
    while (host->host->scheduler().running() == 0) std::this_thread::yield();
    auto late = std::async(std::launch::async, [&] { return InferWithNewContext(bad, "m"); });
    EXPECT_TRUE(TurnUntilDone(hands_, late).empty());
    EXPECT_TRUE(beside.get().empty());
  }
  uint32_t graph = 0, context = 0;
  EXPECT_EQ(bad.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(bad.InitContext(graph, context), kRuntimeError);
  EXPECT_EQ(good.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(good.InitContext(graph, context), kSuccess);
}

}  // namespace
}  // namespace wasinn::testing
