#include "backends/isolated.h"

#include "backends/driver_paths.h"
#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::test {

using testing::FakeGuest;

namespace {

constexpr size_t kMemory = size_t{64} << 20;
constexpr uint32_t kRoom = 1 << 16;

std::string Folder() { return std::filesystem::path(testing::BackendFile(kFramework)).parent_path().string(); }

uint8_t TypeOf(const check::Tensor& tensor) {
  switch (tensor.dtype) {
    case WASINN_DTYPE_U8:
      return testing::kU8;
    case WASINN_DTYPE_I32:
      return testing::kI32;
    case WASINN_DTYPE_I64:
      return testing::kI64;
    default:
      EXPECT_EQ(tensor.dtype, WASINN_DTYPE_F32);
      return testing::kF32;
  }
}

}  // namespace

struct Workers::Guest {
  Guest(wasinn_host* host, Time time)
      : guest(testing::NewGuest(host,
                                [time](wasinn_limits& limits) {
                                  limits.load_timeout_ms = time == Time::kAll ? 0 : 3000;
                                  limits.compute_timeout_ms = time == Time::kAll ? 0 : 1000;
                                })),
        calls(guest.get(), kMemory) {}

  uint32_t Load(const Brought& model, Encoding encoding) {
    std::vector<uint32_t> list;
    for (const std::string& blob : model.builders) {
      list.push_back(calls.Put(blob));
      list.push_back(static_cast<uint32_t>(blob.size()));
    }
    const uint32_t graph = calls.Reserve(4), count = static_cast<uint32_t>(model.builders.size());
    const uint32_t error = calls.Call("load", {calls.PutAll(list), count, static_cast<uint32_t>(encoding), 0, graph});
    return error != 0 ? error : calls.InitContext(calls.Read<uint32_t>(graph), context);
  }
  uint32_t Compute(const Brought& model) {
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      const check::Tensor& tensor = model.inputs[i];
      const std::vector<uint32_t> dims(tensor.dims.begin(), tensor.dims.end());
      const std::vector<char> bytes(tensor.bytes.begin(), tensor.bytes.end());
      const uint32_t error = calls.SetInput(context, static_cast<uint32_t>(i), dims, TypeOf(tensor), bytes);
      if (error != 0) return error;
    }
    return calls.Call("compute", {context});
  }
  std::string Output() {
    if (output == 0) output = calls.Reserve(kRoom + 4);
    EXPECT_EQ(calls.Call("get_output", {context, 0, output, kRoom, output + kRoom}), testing::kSuccess);
    const auto begin = calls.memory().begin() + output;
    return {begin, begin + calls.Read<uint32_t>(output + kRoom)};
  }

  testing::GuestPtr guest;
  FakeGuest calls;
  uint32_t context = 0, output = 0;
};

struct Workers::Hosted {
  Encoding encoding;
  Brought honest;
  testing::Log log;
  testing::HostPtr host;
  std::unique_ptr<Guest> witness;
  std::string gives;  // what the honest model gives
};

Workers::Workers(Encoding encoding, const Brought& honest, const std::string& settings)
    : hosted_(std::make_unique<Hosted>(encoding, honest)) {
  // Little of all, so that what takes without end has had it soon. With one thread, most frameworks fork.
  const std::string toml = "threads = 1\nworker = '" + Folder() + "/wasinn-worker'\n" + settings +
                           "\n[limits]\nmax_model_bytes = 67108864\nmax_tensor_bytes = 67108864\n"
                           "load_timeout_ms = 0\ncompute_timeout_ms = 0\n[policy]\nload = 'isolated'\n";
  hosted_->host = testing::EchoHost(hosted_->log, toml, Folder());
  hosted_->witness = std::make_unique<Guest>(hosted_->host.get(), Time::kAll);
  EXPECT_EQ(hosted_->witness->Load(honest, encoding), testing::kSuccess) << log();
  EXPECT_EQ(hosted_->witness->Compute(honest), testing::kSuccess) << log();
  hosted_->gives = hosted_->witness->Output();
  EXPECT_FALSE(hosted_->gives.empty());
}

Workers::~Workers() = default;

uint32_t Workers::Try(const Brought& model, Time time) {
  Guest guest(hosted_->host.get(), time);
  const uint32_t error = guest.Load(model, hosted_->encoding);
  return error != 0 ? error : guest.Compute(model);
}

uint32_t Workers::TryBesideHonest(const Brought& model, Time time) {
  const uint32_t error = Try(model, time);
  SCOPED_TRACE("after " + model.name);
  ExpectHonest();
  return error;
}

void Workers::TryVariants(int count, const std::function<Brought()>& make) {
  constexpr int kOfOneGuest = 20;  // within what a guest may have
  auto guest = std::make_unique<Guest>(hosted_->host.get(), Time::kLittle);
  size_t lost_before = lost();
  for (int i = 0; i < count; ++i) {
    if (i % kOfOneGuest == 0 || lost() != lost_before)
      guest = std::make_unique<Guest>(hosted_->host.get(), Time::kLittle);
    lost_before = lost();
    const Brought model = make();
    if (guest->Load(model, hosted_->encoding) == testing::kSuccess) (void)guest->Compute(model);
  }
  ExpectHonest();
}

void Workers::TryDamaged(int count, const Brought& good, const std::function<char(char byte, uint32_t random)>& change,
                         int changes) {
  TryVariants(count, [&] {
    Brought bad = good;
    for (int i = 0; i < changes; ++i) {
      char& byte = bad.builders[0][random_() % bad.builders[0].size()];
      byte = change(byte, static_cast<uint32_t>(random_()));
    }
    return bad;
  });
}

void Workers::ExpectHonest() {
  EXPECT_EQ(hosted_->witness->Compute(hosted_->honest), testing::kSuccess) << log();
  EXPECT_EQ(hosted_->witness->Output(), hosted_->gives);
}

size_t Workers::lost() const {
  return static_cast<size_t>(std::ranges::count_if(hosted_->log.lines(), [](const std::string& line) {
    return line.find("a worker is gone") != std::string::npos;
  }));
}

std::string Workers::log() const {
  std::string all;
  for (const std::string& line : hosted_->log.lines()) all += line + "\n";
  return all;
}

}  // namespace wasinn::test
