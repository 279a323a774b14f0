// A guest that puts code of its own where a framework might look for libraries: into the host's working folder.
#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

const std::string kPlantedLibrary = InTestsBuild("lib/planted/libhostile_planted.so");

struct Planted {
  const char* name;
  const char* model;  // a file of models/
  int encoding;
  const char* files;  // what a guest brings along as bytes, as plant.cc wants it
};

constexpr Planted kPlanted[] = {
    {"onnx", "digits.onnx", 1, "/models/digits.onnx"},
    {"openvino", "digits.xml", 0, "/models/digits.xml,/models/digits.bin"},
    {"tflite", "digits.tflite", 4, "/models/digits.tflite"},
    {"torch", "digits.pt", 3, "/models/digits.pt"},
    {"tensorflow", "digits.pb", 2, "/models/digits.pb"},
    {"llama", "tiny.gguf", 5, "/models/tiny.gguf"},
};

// Without a prefix, "lib", and an end, ".so": what was seen to be looked for, and all that has such a name.
constexpr const char* kLibraries =
    "openvino_intel_gpu_plugin openvino_intel_npu_plugin openvino_hetero_plugin openvino_auto_batch_plugin "
    "openvino_auto_plugin openvino_intel_cpu_plugin openvino_template_plugin openvino_ir_frontend "
    "openvino_onnx_frontend openvino_paddle_frontend openvino_tensorflow_frontend openvino openvino_c tcm irml iomp5 "
    "tbb tbbmalloc tbbbind tbbbind_2_0 tbbbind_2_5 hwloc onnxruntime onnxruntime_providers_shared "
    "onnxruntime_providers_cuda onnxruntime_providers_tensorrt onnxruntime_providers_openvino "
    "tensorflowlite_c tensorflow-lite jnitensorflowlite tensorflow_cc tensorflow_framework tensorflow torch torch_cpu "
    "torch_cuda c10 caffe2_nvrtc nvrtc gomp gfortran quadmath openblas cuda cudart cublas cublasLt cudnn cufft curand "
    "cusparse cusolver nvinfer nccl OpenCL vulkan ze_loader llama ggml ggml-base ggml-cpu ggml-cpu-x64 "
    "ggml-cpu-haswell ggml-cpu-skylakex ggml-blas ggml-cuda ggml-vulkan wasinn_llama_common wasinn "
    "wasinn_backend_onnx wasinn_backend_planted wasinn_torch_runtime stdc++ gcc_s m dl rt pthread z fmt numa nss_files "
    "nss_dns nss_sss nss_systemd";
constexpr const char* kEnds[] = {"", ".0", ".1", ".2", ".3", ".5", ".6", ".9", ".12", ".15", ".2641"};

std::string PlantedNames() {
  std::string names = "plugins.xml\n";
  std::istringstream libraries(kLibraries);
  for (std::string library; libraries >> library;) {
    for (const char* end : kEnds) names += "lib" + library + ".so" + end + "\n";
    for (const char* folder : {"lib/", "lib/wasinn/", "openvino-2026.4.1/", "backends/", "glibc-hwcaps/x86-64-v2/"}) {
      names += folder + ("lib" + library + ".so\n");
    }
  }
  return names;
}

std::vector<Planted> BuiltFrameworks() { return Built(kPlanted, &Planted::name); }

std::string ModelPath(const Planted& framework) { return SourcePath("models/") + framework.model; }

class HostilePlant : public ::testing::Test {
 protected:
  HostilePlant() { fs::create_directory(working()); }

  fs::path working() const { return scratch_.path() / "working"; }
  fs::path mark() const { return scratch_.path() / "mark"; }

  // All frameworks in one guest, which has planted before.
  CommandResult RunGuest(std::vector<std::string> environment = {}) const {
    const std::string given = fs::path(scratch_.Write("given/names", PlantedNames())).parent_path().string();
    GuestRun run{.guest = "plant",
                 .args = {"/code/" + fs::path(kPlantedLibrary).filename().string(), "/given/names"},
                 .flags = {"--dir", ".", "--dir", given + "::/given", "--dir", SourcePath("models") + "::/models",
                           "--dir", fs::path(kPlantedLibrary).parent_path().string() + "::/code"}};
    for (const Planted& framework : BuiltFrameworks()) {
      run.args.push_back(std::string(framework.name) + "," + std::to_string(framework.encoding) + "," +
                         framework.files);
      run.flags.insert(run.flags.end(), {"--model", std::string(framework.name) + "=" + ModelPath(framework)});
    }
    GuestCommand command = run.Command(scratch_);
    environment.insert(environment.end(), command.environment.begin(), command.environment.end());
    return RunThere(command.argv, environment);
  }
  // In the folder that the guest has written into.
  CommandResult RunThere(const std::vector<std::string>& argv, std::vector<std::string> environment = {}) const {
    environment.push_back("WASINN_TEST_MARK=" + mark().string());
    return RunCommand(argv, environment, working().string());
  }

 private:
  const TestFolder scratch_;
};

// Else the tests below would find nothing, whatever is opened.
TEST_F(HostilePlant, OpenedCodeLeavesAMark) {
  RunThere({"/bin/true"}, {"LD_PRELOAD=" + kPlantedLibrary});
  EXPECT_TRUE(fs::exists(mark()));
}

TEST_F(HostilePlant, NothingInTheWorkingFolderIsOpened) {
  const CommandResult result = RunGuest();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  for (const Planted& framework : BuiltFrameworks()) {
    for (const char* line : {" by name: success\n", " on cpu: success\n", " on auto: success\n",
                             " on AUTO:GPU: invalid_argument\n", " from bytes: success\n"}) {
      EXPECT_TRUE(HasInOrder(result.out, {framework.name + std::string(line)})) << line << result.out << result.err;
    }
  }
  EXPECT_TRUE(HasInOrder(result.out, {"done\n"}));
  EXPECT_TRUE(fs::exists(working() / "libopenvino_intel_gpu_plugin.so"));
  EXPECT_FALSE(fs::exists(mark()));
  if (OnWasmEdge()) return;
  // And what the operator does there next.
  EXPECT_EQ(RunThere({InThisBuild("bin/wasinn"), "inspect", ModelPath(kPlanted[0])}).exit_code, 0);
  EXPECT_FALSE(fs::exists(mark())) << "by inspect";
  EXPECT_EQ(RunThere({InThisBuild("bin/wasinn"), "backends"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(mark())) << "by backends";
}

// It means the working folder. What the operator's own command opens by it while it starts is past help.
TEST_F(HostilePlant, NothingIsOpenedByAnEmptyPartOfLdLibraryPath) {
  for (const char* path : {":", "lib"}) {
    fs::remove_all(working());
    fs::create_directory(working());
    const CommandResult result = RunGuest({std::string("LD_LIBRARY_PATH=") + path});
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    for (const Planted& framework : BuiltFrameworks()) {
      const std::string name = framework.name;
      EXPECT_TRUE(HasInOrder(
          result.out, {name + " by name: unsupported_operation\n", name + " from bytes: unsupported_operation\n"}))
          << result.out;
    }
    EXPECT_TRUE(HasInOrder(result.err, {"LD_LIBRARY_PATH", "absolute path"})) << path << result.err;
    EXPECT_FALSE(fs::exists(mark())) << path;
  }
}

}  // namespace
}  // namespace wasinn::testing
