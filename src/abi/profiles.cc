#include "abi/profiles.h"

#include <algorithm>
#include <iterator>

namespace wasinn::abi {
namespace {

template <typename T>
std::optional<T> At(std::span<const T> table, uint32_t number) {
  if (number >= table.size()) return std::nullopt;
  return table[number];
}

template <typename T>
std::optional<uint32_t> IndexOf(std::span<const T> table, uint32_t value) {
  const auto found = std::ranges::find_if(table, [value](T one) { return one == value; });
  if (found == table.end()) return std::nullopt;
  return static_cast<uint32_t>(found - table.begin());
}

// The bytes decide.
constexpr const char* kAutodetect = "";

constexpr const char* kWitxEncodings[] = {"openvino",       "onnx",      "tensorflow", "pytorch",
                                          "tensorflowlite", kAutodetect, kAutodetect};
constexpr const char* kWasmEdgeEncodings[] = {"openvino",       "onnx",      "tensorflow", "pytorch",
                                              "tensorflowlite", kAutodetect, "ggml"};
constexpr const char* kWitEncodings[] = {"openvino",       "onnx", "tensorflow", "pytorch",
                                         "tensorflowlite", "ggml", kAutodetect};

constexpr wasinn_target kTargets[] = {WASINN_TARGET_CPU, WASINN_TARGET_GPU, WASINN_TARGET_TPU, WASINN_TARGET_AUTO};

constexpr wasinn_dtype kWitxDtypes[] = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_F64,
                                        WASINN_DTYPE_U8,  WASINN_DTYPE_I32, WASINN_DTYPE_I64};
constexpr wasinn_dtype kLegacyDtypes[] = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_U8, WASINN_DTYPE_I32};
constexpr wasinn_dtype kWitDtypes[] = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_F64, WASINN_DTYPE_BF16,
                                       WASINN_DTYPE_U8,  WASINN_DTYPE_I32, WASINN_DTYPE_I64};

// The errno of wasi-nn.witx, which has none for deadlines or policies, and WasmEdge's for generative models.
uint32_t WitxError(wasinn_code code) {
  switch (code) {
    case WASINN_ERROR_TIMEOUT:
    case WASINN_ERROR_UNAVAILABLE:
    case WASINN_ERROR_LOST:
      return WASINN_ERROR_RUNTIME;
    case WASINN_ERROR_SECURITY:
      return WASINN_ERROR_UNSUPPORTED_OPERATION;
    case WASINN_ERROR_END_OF_SEQUENCE:
      return 100;
    case WASINN_ERROR_CONTEXT_FULL:
      return 101;
    case WASINN_ERROR_PROMPT_TOO_LONG:
      return 102;
    case WASINN_ERROR_MODEL_NOT_FOUND:
      return WASINN_ERROR_NOT_FOUND;
    default:
      // All other codes have wasi-nn's numbers: see static_assert below. A newer backend may have more codes.
      return code > WASINN_ERROR_NOT_FOUND ? WASINN_ERROR_RUNTIME : code;
  }
}
static_assert(WASINN_OK == 0 && WASINN_ERROR_INVALID_ARGUMENT == 1 && WASINN_ERROR_INVALID_ENCODING == 2 &&
              WASINN_ERROR_MISSING_MEMORY == 3 && WASINN_ERROR_BUSY == 4 && WASINN_ERROR_RUNTIME == 5 &&
              WASINN_ERROR_UNSUPPORTED_OPERATION == 6 && WASINN_ERROR_TOO_LARGE == 7 && WASINN_ERROR_NOT_FOUND == 8);

// Guests of WasmEdge and WAMR know one number more.
uint32_t WasmEdgeError(wasinn_code code) { return code == WASINN_ERROR_MODEL_NOT_FOUND ? 103 : WitxError(code); }

// The errors of the first versions, which have no further ones.
uint32_t Witx01Error(wasinn_code code) {
  const uint32_t number = WitxError(code);
  return number > WASINN_ERROR_RUNTIME ? uint32_t{WASINN_ERROR_RUNTIME} : number;
}

uint32_t WitError(wasinn_code code) {
  static constexpr wasinn_code kCases[] = {
      WASINN_ERROR_INVALID_ARGUMENT,      WASINN_ERROR_INVALID_ENCODING, WASINN_ERROR_TIMEOUT,   WASINN_ERROR_RUNTIME,
      WASINN_ERROR_UNSUPPORTED_OPERATION, WASINN_ERROR_TOO_LARGE,        WASINN_ERROR_NOT_FOUND, WASINN_ERROR_SECURITY};
  constexpr auto kUnknown = static_cast<uint32_t>(std::size(kCases));
  if (code == WASINN_ERROR_BUSY || code == WASINN_ERROR_UNAVAILABLE || code == WASINN_ERROR_LOST)
    code = WASINN_ERROR_RUNTIME;
  if (code == WASINN_ERROR_CONTEXT_FULL || code == WASINN_ERROR_PROMPT_TOO_LONG) code = WASINN_ERROR_TOO_LARGE;
  if (code == WASINN_ERROR_MODEL_NOT_FOUND) code = WASINN_ERROR_NOT_FOUND;
  return IndexOf<wasinn_code>(kCases, code).value_or(kUnknown);
}

}  // namespace

std::optional<const char*> WasmEdgeFormat(uint32_t number) {
  constexpr uint32_t kFirst = 7;
  static constexpr const char* kFormats[] = {"neuralspeed", "burn",    "whisper",        "mlx",
                                             "piper",       "chattts", "openvino-genai", "bitnet"};
  return number < kFirst ? std::nullopt : At<const char*>(kFormats, number - kFirst);
}

std::optional<const char*> Profile::encoding(uint32_t number) const {
  const bool is_wasmedges = has_wasmedge_formats && number >= encodings.size();
  return is_wasmedges ? WasmEdgeFormat(number) : At(encodings, number);
}
std::optional<wasinn_target> Profile::target(uint32_t number) const { return At(targets, number); }
std::optional<wasinn_dtype> Profile::dtype(uint32_t number) const { return At(dtypes, number); }
std::optional<uint32_t> Profile::dtype_number(uint32_t dtype) const { return IndexOf(dtypes, dtype); }

const Profile kWitx = {kWitxEncodings, true, kTargets, kWitxDtypes, WitxError};
const Profile kWasmEdge = {kWasmEdgeEncodings, true, kTargets, kWitxDtypes, WasmEdgeError};
const Profile kWitx01 = {kWitxEncodings, true, kTargets, kLegacyDtypes, Witx01Error};
// WAMR numbers encodings like WIT.
const Profile kWamr = {kWitEncodings, false, kTargets, kWitxDtypes, WasmEdgeError};
const Profile kLegacy = {kWitEncodings, false, kTargets, kLegacyDtypes, WasmEdgeError};
const Profile kWit = {kWitEncodings, false, std::span(kTargets).first(3), kWitDtypes, WitError};  // without "auto"

const Profile& ProfileOf(wasinn_dialect dialect) {
  switch (dialect) {
    case WASINN_DIALECT_WASMEDGE:
      return kWasmEdge;
    case WASINN_DIALECT_WAMR:
      return kWamr;
    case WASINN_DIALECT_WITX_0_1:
      return kWitx01;
    default:
      return kWitx;
  }
}

}  // namespace wasinn::abi
