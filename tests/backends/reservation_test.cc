#include "common/reservation.h"

#include "backends/thrown.h"
#include "common/abi.h"

namespace wasinn::backend {
namespace {

// A host with one account of 100 bytes, which says what it was asked.
struct FakeHost {
  std::vector<int64_t> asked;
  int64_t used = 0;
  wasinn_host_services services = {
      .struct_size = sizeof(services), .host = this, .log = nullptr, .threads = 1, .reserve = Reserve};

  static uint32_t Reserve(void* host, void* account, int64_t bytes) {
    auto* self = static_cast<FakeHost*>(host);
    EXPECT_EQ(account, &self->used);
    self->asked.push_back(bytes);
    if (self->used + bytes > 100) return WASINN_ERROR_TOO_LARGE;
    self->used += bytes;
    return WASINN_OK;
  }
};

TEST(Reservation, GrowsShrinksAndGivesBack) {
  FakeHost host;
  {
    Reservation reservation(host.services, &host.used);
    reservation.Resize(60);
    reservation.Resize(60);
    reservation.Resize(90);
    reservation.Resize(10);
    EXPECT_EQ(reservation.bytes(), 10u);
    EXPECT_EQ(host.used, 10);
  }
  EXPECT_EQ(host.used, 0);
  EXPECT_EQ(host.asked, (std::vector<int64_t>{60, 30, -80, -10}));
}

TEST(Reservation, IsWhatItWasWhenMoreIsRefused) {
  FakeHost host;
  Reservation reservation(host.services, &host.used);
  reservation.Resize(70);
  EXPECT_EQ(test::Refused(WASINN_ERROR_TOO_LARGE, [&] { reservation.Resize(101); }),
            "31 bytes to keep, besides the 70 here, are more than may still be held");
  EXPECT_EQ(reservation.bytes(), 70u);
  EXPECT_EQ(host.used, 70);
  EXPECT_THROW(reservation.Resize(UINT64_MAX), Error) << "which is no int64_t";
  EXPECT_EQ(host.used, 70);
}

TEST(Reservation, MovesWithWhatItIsFor) {
  FakeHost host;
  Reservation first(host.services, &host.used);
  first.Resize(40);
  Reservation second = std::move(first);
  EXPECT_EQ(second.bytes(), 40u);
  EXPECT_EQ(host.used, 40);
  {
    const Reservation third = std::move(second);
  }
  EXPECT_EQ(host.used, 0);
}

TEST(Reservation, AHostThatIsOlderChargesNothing) {
  FakeHost host;
  host.services.struct_size = offsetof(wasinn_host_services, reserve);
  Reservation reservation(ReadStruct(&host.services), &host.used);
  reservation.Resize(uint64_t{1} << 40);
  EXPECT_EQ(reservation.bytes(), uint64_t{1} << 40);
  Reservation().Resize(5);
  EXPECT_TRUE(host.asked.empty());
}

}  // namespace
}  // namespace wasinn::backend
