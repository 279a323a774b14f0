#include "openvino/source.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "common/error.h"
#include "common/too_new.h"
#include "openvino/ir.h"
#ifdef WASINN_OPENVINO_SCANS_ONNX
#include "onnx/model_scan.h"
#endif

namespace wasinn::openvino {

using backend::Error;

namespace {

namespace fs = std::filesystem;

std::string_view TextOf(const wasinn_builder& builder) {
  return {reinterpret_cast<const char*>(builder.data), builder.size};
}

// NAME.bin beside NAME.xml, read whole; nothing where there is no such file, for a model may have no weights.
backend::KeptBytes ReadWeightsBeside(const char* path) {
  const fs::path file = fs::path(path).replace_extension(".bin");
  std::error_code failed;
  const uintmax_t size = fs::file_size(file, failed);
  if (failed == std::errc::no_such_file_or_directory) return {};
  std::ifstream stream(file, std::ios::binary);
  if (failed || !stream)
    throw Error(WASINN_ERROR_RUNTIME, fmt::format("cannot read the weights in '{}'", file.string()));
  backend::AlignedBuffer buffer(size);
  stream.read(static_cast<char*>(buffer.data()), static_cast<std::streamsize>(size));
  if (!stream) throw Error(WASINN_ERROR_RUNTIME, fmt::format("cannot read '{}' whole", file.string()));
  return {std::move(buffer), size};
}

class SourceReader {
 public:
  SourceReader(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options)
      : host_(host), builders_(builders), first_(builders.front()), options_(options) {}

  SourceModel Read() {
    const bool xml = LooksLikeXml(TextOf(first_));
    const std::string_view format = options_.format;
    if (format == "openvino") {
      if (xml) return ReadIr();
      if (first_.path == nullptr) return ReadOnnx();
      return fs::path(first_.path).extension() == ".onnx" ? ReadOnnx() : ReadFile();
    }
    if (format == "onnx") return ReadOnnx();
    if (format == "tensorflow" || format == "tensorflowlite") return ReadFile();
    throw Error(WASINN_ERROR_INVALID_ENCODING,
                "this backend loads OpenVINO's IR, ONNX, TensorFlow and TensorFlow Lite");
  }

 private:
  OvPtr<ov_model_t> Own(ov_model_t* model) const { return {model, host_.api().ov_model_free}; }

  void ExpectBuilders(size_t most, const char* what) const {
    if (builders_.size() <= most) return;
    throw Error(WASINN_ERROR_INVALID_ARGUMENT, fmt::format("{}: found {} builders", what, builders_.size()));
  }

  SourceModel ReadIr() {
    ExpectBuilders(2, "an IR is one or two builders, XML and weights");
    backend::KeptBytes weights;
    if (builders_.size() == 2) {
      if (builders_[1].size > 0) weights = backend::KeptBytes(builders_[1]);
    } else if (first_.path != nullptr) {
      weights = ReadWeightsBeside(first_.path);
    }
    const IrScan scan = ScanIr(TextOf(first_));
    if (first_.path == nullptr && scan.names_weights) {
      throw Error(WASINN_ERROR_SECURITY,
                  "the IR names a file for its weights: one that is given as bytes must be whole");
    }
    if (first_.path == nullptr && !scan.is_whole) throw Error(WASINN_ERROR_INVALID_ENCODING, "the IR is broken XML");
    SourceModel source = ReadIrOf(scan.version, std::move(weights));
    source.may_loop = scan.may_loop;
    source.has_state = scan.has_state;
    source.state_bytes = scan.state_bytes;
    return source;
  }

  // OpenVINO only says that it does not read the file, and not which version it has.
  SourceModel ReadIrOf(uint64_t version, backend::KeptBytes weights) const {
    constexpr uint64_t kNewest = 11;
    try {
      return ReadMemory("reading the IR", std::move(weights));
    } catch (const Error& error) {
      std::string words = error.what();
      if (version <= kNewest && !words.contains("unsupported opset")) throw;
      if (version > kNewest)
        words += fmt::format(": the file has IR version {}, known are 10 and {}", version, kNewest);
      throw Error(error.code(), backend::TooNew(std::move(words), "OpenVINO", host_.library().version(),
                                                "convert the model again with an older OpenVINO"));
    }
  }

  SourceModel ReadOnnx() {
    ExpectBuilders(1, "an ONNX model is one builder, and an IR is XML first");
#ifdef WASINN_OPENVINO_SCANS_ONNX
    const onnx::Trust trust = first_.path == nullptr ? onnx::Trust::kGuest : onnx::Trust::kHost;
    onnx::ModelScan scan;
    try {
      scan = onnx::ScanModel({first_.data, first_.size}, trust);
    } catch (const Error& error) {
      // Who sends the one may mean the other.
      if (error.code() != WASINN_ERROR_INVALID_ENCODING || std::string_view(options_.format) == "onnx") throw;
      throw Error(WASINN_ERROR_INVALID_ENCODING,
                  fmt::format("neither an IR, which is XML, nor an ONNX model: {}", error.what()));
    }
    if (scan.external_files.empty()) return ReadMemory("reading the ONNX model", {});
#else
    if (first_.path == nullptr) {
      throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                  "this build of the backend cannot tell whether an ONNX model names files, as a guest's may not "
                  "(WASINN_BACKEND_ONNX is off)");
    }
#endif
    return ReadFile();
  }

  SourceModel ReadMemory(const char* doing, backend::KeptBytes weights) const {
    const OvApi& api = host_.api();
    OvPtr<ov_tensor_t> tensor(nullptr, api.ov_tensor_free);
    if (const std::span<const uint8_t> bytes = weights.get(); !bytes.empty()) {
      auto size = static_cast<int64_t>(bytes.size());
      ov_tensor_t* raw = nullptr;
      host_.library().Check(
          api.ov_tensor_create_from_host_ptr(U8, {.rank = 1, .dims = &size}, const_cast<uint8_t*>(bytes.data()), &raw),
          "the weights");
      tensor.reset(raw);
    }
    ov_model_t* model = nullptr;
    const std::string_view text = TextOf(first_);
    host_.library().Check(
        api.ov_core_read_model_from_memory_buffer(host_.core(), text.data(), text.size(), tensor.get(), &model), doing,
        WASINN_ERROR_INVALID_ENCODING);
    return {.model = Own(model),
            .may_loop = text.find("Loop") != std::string_view::npos,
            .has_state = text.find("ReadValue") != std::string_view::npos,
            .weights = std::move(weights)};
  }

  SourceModel ReadFile() const {
    ExpectBuilders(1, "a model in a file is one builder");
    if (first_.path == nullptr) {
      throw Error(
          WASINN_ERROR_UNSUPPORTED_OPERATION,
          "OpenVINO reads models of TensorFlow and TensorFlow Lite from files only: the host can offer it by name");
    }
    fs::path path = first_.path;
    if (path.filename() == "saved_model.pb") path = path.parent_path();
    ov_model_t* model = nullptr;
    host_.library().Check(host_.api().ov_core_read_model(host_.core(), path.c_str(), nullptr, &model),
                          fmt::format("reading '{}'", path.string()).c_str(), WASINN_ERROR_INVALID_ENCODING);
    return {.model = Own(model), .weights = {}};
  }

  const Host& host_;
  const std::span<const wasinn_builder> builders_;
  const wasinn_builder& first_;
  const wasinn_load_options& options_;
};

}  // namespace

SourceModel ReadSource(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options) {
  if (builders.empty() || builders.front().size == 0)
    throw Error(WASINN_ERROR_INVALID_ENCODING, "the model has no bytes");
  return SourceReader(host, builders, options).Read();
}

}  // namespace wasinn::openvino
