// A guest that ends the workers of a shared model waits for the next one; others do not.
#include "core/isolation/rests.h"

#include "unit/isolated_program.h"
#include "unit/turned_host.h"

namespace wasinn::testing {
namespace {

using isolation::Rests;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kBad = 7, kGood = 8;

class RestsTest : public ::testing::Test {
 protected:
  void Add(std::vector<uint64_t> guests, int times = 1) {
    for (int i = 0; i < times; ++i) rests_.AddDeath(guests, now_);
  }

  Rests rests_;
  Rests::Time now_;
};

TEST_F(RestsTest, AnOnlyGuestWaitsLongerAndLonger) {
  for (const int rest : {1, 2, 4, 8, 16, 32, 60, 60}) {
    Add({kBad}, 3);
    EXPECT_THAT(rests_.Left(kBad, now_), Optional(milliseconds(seconds(rest))));
    EXPECT_EQ(rests_.Left(kGood, now_), std::nullopt);
    EXPECT_EQ(rests_.Left(0, now_), std::nullopt) << "loads go on";
    now_ += seconds(rest);
    EXPECT_EQ(rests_.Left(kBad, now_), std::nullopt);
  }
}

TEST_F(RestsTest, AModelThatDiesByItselfRestsForAll) {
  Add({}, 3);
  EXPECT_THAT(rests_.Left(0, now_), Optional(milliseconds(1000)));
}

// It was beside the one that did it, and computed in between.
TEST_F(RestsTest, AGuestThatSucceedsInBetweenIsCleared) {
  for (int i = 0; i < 20; ++i) {
    Add({kBad, kGood});
    rests_.Clear(kGood);
  }
  EXPECT_NE(rests_.Left(kBad, now_), std::nullopt);
  EXPECT_EQ(rests_.Left(kGood, now_), std::nullopt);
}

TEST_F(RestsTest, AGuestWithSuccessesInBetweenOnlyWaitsAfterManyDeaths) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(rests_.Left(kBad, now_), std::nullopt) << i;
    Add({kBad});
    rests_.Clear(kBad);
  }
  EXPECT_NE(rests_.Left(kBad, now_), std::nullopt);
}

// Which may have many clients, as a server has.
TEST_F(RestsTest, TheOnlyGuestRestsAfterManyDeaths) {
  Rests rests(true);
  for (int i = 0; i < 49; ++i) rests.AddDeath(std::vector<uint64_t>{kBad, kGood}, now_);
  EXPECT_EQ(rests.Left(kBad, now_), std::nullopt);
  rests.AddDeath(std::vector<uint64_t>{kBad}, now_);
  EXPECT_NE(rests.Left(kBad, now_), std::nullopt);
}

TEST_F(RestsTest, DeathsLongAgoAreForgotten) {
  for (int i = 0; i < 10; ++i) {
    Add({kBad});
    now_ += seconds(6);
  }
  EXPECT_EQ(rests_.Left(kBad, now_), std::nullopt);
}

constexpr std::string_view kDies = "in x f32 1\ndies compute\n";

class RestsOfGuests : public Isolation {
 protected:
  HostPtr Host() { return TurnedHost(hands_, log, "isolate_models = true\nworker = '" + WorkerFile() + "'\n"); }
  static std::vector<float> InferAnew(Program& program, std::string_view name) {
    return program.Infer(program.NewContext(name), {1});
  }

  core::Clock::Hands hands_;
};

TEST_F(RestsOfGuests, OthersHaveANamedModelAtOnce) {
  const HostPtr host = Host();
  AddEchoModel(host.get(), "m", kDies);
  Program bad(host.get()), good(host.get());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(InferAnew(bad, "m").empty());
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

TEST_F(RestsOfGuests, GuestsOnBehalfOfOneAreThatOne) {
  const HostPtr host = Host();
  AddEchoModel(host.get(), "m", kDies);
  GuestPtr tenant = NewGuest(host.get());
  for (int i = 0; i < 3; ++i) {
    Program program(OnBehalfOf(host.get(), tenant.get()));
    EXPECT_TRUE(InferAnew(program, "m").empty());
  }
  Program next(OnBehalfOf(host.get(), tenant.get())), stranger(host.get());
  tenant.reset();
  uint32_t graph = 0, context = 0;
  EXPECT_EQ(next.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(next.InitContext(graph, context), kRuntimeError);
  EXPECT_THAT(log.lines(), Contains(HasSubstr("calls of this guest ended its worker 3 times in a row")));
  EXPECT_EQ(stranger.LoadByName("m", graph), kSuccess);
  EXPECT_EQ(stranger.InitContext(graph, context), kSuccess);
}

TEST_F(RestsOfGuests, AGuestOnBehalfOfAClosedOneOrAnotherHostsIsRefused) {
  const HostPtr host = Host(), other = Host();
  const GuestPtr closed = NewGuest(host.get()), of_other = NewGuest(other.get());
  wasinn_guest_close(closed.get());
  for (const auto& [guest, why] : {std::pair(closed.get(), "on_behalf_of: the guest is closed"),
                                   std::pair(of_other.get(), "on_behalf_of: the guest is another host's")}) {
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
TEST_F(RestsOfGuests, AGuestThatDoesNotStopInTimeIsToBlame) {
  const HostPtr host = Host();
  AddEchoModel(host.get(), "m", "in x f32 1\nturns 0\ndeaf\ndelay 3600000\n");
  Program good(host.get());
  Program bad(NewGuest(host.get(), &wasinn_limits::compute_timeout_ms, 50));
  for (int i = 0; i < 3; ++i) {
    auto beside = std::async(std::launch::async, [&] { return InferAnew(good, "m"); });
    while (host->host->scheduler().running() == 0) std::this_thread::yield();
    auto late = std::async(std::launch::async, [&] { return InferAnew(bad, "m"); });
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
