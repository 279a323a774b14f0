// Models of attackers with the PyTorch backend.
#include "backends/torch_models.h"
#include "support/test.h"

namespace wasinn::test {
namespace {

constexpr char kDoubles[] = "def forward(self, x):\n    return x * 2\n";

TEST(TorchHostile, RefusesFilesOfTheHosts) {
  const Host host;
  for (const char* code : {
           "def forward(self, x):\n    return torch.from_file('/etc/passwd', False, 10, dtype=0)\n",
           "def forward(self, x):\n    torch.save(x, '/tmp/wasinn-torch-must-not-be')\n    return x\n",
       }) {
    const std::string bytes = TorchModel(code);
    const Model model(host, bytes, TorchOptions());
    EXPECT_EQ(model.loaded().code, WASINN_ERROR_SECURITY) << code << model.loaded().message;
    // The operator's own file may.
    EXPECT_TRUE(Model(host, bytes, TorchOptions("/models/model.pt")).loaded()) << code;
  }
}

TEST(TorchHostile, TheOperatorCanRefuseGuests) {
  const Host refuses(R"({"guest_models": false})");
  const Model refused(refuses, TorchModel(kDoubles), TorchOptions());
  EXPECT_EQ(refused.loaded().code, WASINN_ERROR_SECURITY);
  EXPECT_TRUE(Model(refuses, TorchModel(kDoubles), TorchOptions("/models/model.pt")).loaded());
}

TEST(TorchHostile, SaysWhatOtherArchivesAre) {
  const Host host;
  const auto load = [&](const ZipEntries& entries) {
    return Model(host, ZipArchive(entries), TorchOptions()).loaded();
  };
  Result loaded = load({{"archive_format", "pt2"}, {"data/aotinductor/model/cabc.so", "ELF"}});
  EXPECT_EQ(loaded.code, WASINN_ERROR_SECURITY);
  EXPECT_THAT(loaded.message, HasSubstr("native code"));
  loaded = load({{"archive_format", "pt2"}, {"models/model.json", "{}"}});
  EXPECT_EQ(loaded.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(loaded.message, AllOf(HasSubstr("torch.onnx.export("), HasSubstr("aoti_compile_and_package(")));
  loaded = load({{"data.pkl", "."}});
  EXPECT_EQ(loaded.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(loaded.message, HasSubstr("torch.save"));
}

}  // namespace
}  // namespace wasinn::test
