// All frameworks in one OS process, which guests on threads of their own open at the same moment, and compute with at the
// same time: each gives the bytes that it gives alone.
#include <latch>

#include "formats.h"
#include "support/echo.h"

namespace wasinn::testing {
namespace {

// The outputs of all images, one after the other.
Bytes InferAll(wasinn_host* host, const Format& format, const HeldOut& held_out, std::latch& open,
               std::latch& compute) {
  EchoProgram guest(host);
  open.arrive_and_wait();
  const uint32_t context = guest.NewContext(format.name);
  compute.arrive_and_wait();
  const bool floats = std::string_view(format.type) == "f32";
  Bytes outputs;
  for (const Bytes& image : held_out.images) {
    guest.Rewind();
    const Bytes pixels = floats ? Floats(FromGrays(image)) : image;
    EXPECT_EQ(guest.SetInput(context, 0, {1, 1, 8, 8}, floats ? kF32 : kU8, pixels), kSuccess) << format.name;
    EXPECT_EQ(guest.Compute(context), kSuccess) << format.name;
    const Bytes output = guest.Output<uint8_t>(context);
    outputs.insert(outputs.end(), output.begin(), output.end());
  }
  return outputs;
}

TEST(Together, AllFrameworksOpenAndComputeAtOnce) {
  const HeldOut held_out = ReadHeldOut();
  const TestFolder folder;
  const std::vector<Format> formats = BuiltFormats();
  const auto count = static_cast<std::ptrdiff_t>(formats.size());
  std::string settings =
      "max_computes = " + std::to_string(count) + "\nlimits.load_timeout_ms = 0\nlimits.compute_timeout_ms = 0\n";
  std::vector<Bytes> expected, outputs(formats.size());
  for (const Format& format : formats) {
    settings += format.Settings(format.name);
    const std::string inputs = folder.Write(format.name, InputsOf(format, held_out));
    expected.push_back(RunReference(format, inputs, folder.path()));
  }
  const LoggedHost host(settings, InThisBuild("lib/wasinn"));
  std::latch open(count), compute(count);
  std::vector<std::thread> guests;
  for (size_t i = 0; i < formats.size(); ++i) {
    guests.emplace_back([&, i] { outputs[i] = InferAll(host.get(), formats[i], held_out, open, compute); });
  }
  for (std::thread& guest : guests) guest.join();
  for (size_t i = 0; i < formats.size(); ++i) {
    EXPECT_TRUE(outputs[i] == expected[i]) << formats[i].name << ": other bytes than the framework's own";
  }
}

}  // namespace
}  // namespace wasinn::testing
