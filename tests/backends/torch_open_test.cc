// The backend's own library, and devices; framework_test.cc has what all backends have.
#include <dlfcn.h>

#include "backends/expect.h"
#include "backends/torch_models.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

namespace fs = std::filesystem;

// The backend without the library of ours that is linked to libtorch.
TEST(TorchOpen, SaysThatItsRuntimeIsMissing) {
  const testing::TestFolder folder;
  const std::string copy = folder.Write("libwasinn_backend_torch.so", ReadFile(testing::BackendFile(kFramework)));
  void* handle = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto query =
      reinterpret_cast<const wasinn_backend* (*)(uint16_t, uint16_t)>(dlsym(handle, "wasinn_backend_query"));
  const wasinn_backend* table = query(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  const wasinn_host_services services = {
      .struct_size = sizeof(services), .host = nullptr, .log = nullptr, .threads = 1};
  wasinn_backend_state* state = nullptr;
  const Result opened = TakeError(table->open(&services, "{}", &state));
  EXPECT_EQ(opened.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(opened.message, AllOf(HasSubstr("libwasinn_torch_runtime.so"), HasSubstr("scripts/deps.sh torch")));
}

TEST(TorchOpen, SaysThatALibraryIsTooOld) {
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::printf), &info), 0);
  const Host other("{\"library\": \"" + fs::canonical(info.dli_fname).string() + "\"}");
  EXPECT_THAT(other.opened().message, HasSubstr("an older version"));
}

TEST(TorchTooNew, SaysWhatIsReadAndWhatToDo) {
  const Host host;
  const ZipEntries entries = UnzipModel(TorchModel("def forward(self, x):\n    return x * 2\n"));
  const Model model(host, ZipArchive(entries, 99), TorchOptions());
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_INVALID_ENCODING);
  EXPECT_THAT(model.loaded().message, AllOf(HasSubstr("version 99"), HasSubstr("maximum supported version"),
                                            HasSubstr("newer than PyTorch "), HasSubstr("or save the model again")));
}

// Traced or written on a machine with a GPU.
TEST(TorchDevices, OfTheCodeAreWhereTheModelIs) {
  const Host host;
  const char* const codes[] = {
      "def forward(self, x):\n    return x + torch.ones([2], device=torch.device('cuda:0'))\n",
      "def forward(self, x):\n    return x.to(torch.device('cuda')) + 1\n",
      "def forward(self, x):\n    return x.to('cuda:1') + 1\n",
      "def forward(self, x):\n    return x.cuda() + 1\n",
      "def forward(self, x):\n    if x.numel() > 1:\n        x = x + torch.ones([2], device='cuda')\n    return x\n",
      "def forward(self, x):\n    device: Optional[Device] = torch.device('cuda', 0)\n"
      "    return x + torch.ones([2], device=device)\n",
  };
  for (const char* const code : codes) {
    LoadOptions options = TorchOptions();
    options.target = WASINN_TARGET_CPU;
    auto&& [own, model, context] = Opened(TorchModel(code), options);
    EXPECT_THAT(Compute(&context, {Floats({2}, {1, 2})}).As<float>(), ElementsAre(2, 3)) << code;
  }
}

TEST(TorchDevices, ThatAModelHoldsAreWhereItIs) {
  LoadOptions options = TorchOptions();
  options.target = WASINN_TARGET_CPU;
  auto&& [host, model, context] = Opened(
      TorchHeldDevice("cuda:1", "def forward(self, x):\n    return x + torch.ones([2], device=self.held)\n"), options);
  EXPECT_THAT(Compute(&context, {Floats({2}, {1, 2})}).As<float>(), ElementsAre(2, 3));
}

TEST(TorchDevices, OfNamesThatTheCodeMakesAreAnErrorThatSaysHowToTraceAnew) {
  LoadOptions options = TorchOptions();
  options.target = WASINN_TARGET_CPU;
  auto&& [host, model, context] =
      Opened(TorchModel("def forward(self, x):\n    return x.to('cuda:' + str(x.numel() - 2))\n"), options);
  ASSERT_TRUE(context.Set(0, Floats({2}, {1, 2})));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_THAT(computed.message, AllOf(HasSubstr("model.cpu()"), Not(HasSubstr("Traceback"))));
}

// A device that is named is that one or none.
TEST(TorchDevices, NamesOneThatIsNotThere) {
  const Host host;
  if (std::string(host.info()->devices).contains("gpu")) GTEST_SKIP() << "there is a GPU";
  const std::string bytes = TorchModel("def forward(self, x):\n    return x * 2\n");
  LoadOptions options = TorchOptions();
  for (const bool fallback : {false, true}) {
    options.cpu_fallback = fallback;
    options.host_config = R"({"device": "cuda:1"})";
    EXPECT_EQ(Model(host, bytes, options).loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
  }
  options.host_config = R"({"device": "nonsense"})";
  EXPECT_EQ(Model(host, bytes, options).loaded().code, WASINN_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace wasinn::test
