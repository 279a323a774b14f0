#include "abi/profiles.h"

#include <array>

namespace wasinn::abi {
namespace {

template <typename T, size_t N>
std::optional<T> At(const std::array<T, N>& table, uint32_t number) {
  if (number >= N) return std::nullopt;
  return table[number];
}

// The bytes decide.
constexpr const char* kAutodetect = "";

std::optional<const char*> WitxEncoding(uint32_t number) {
  static constexpr std::array<const char*, 7> kTable = {"openvino",       "onnx",      "tensorflow", "pytorch",
                                                        "tensorflowlite", kAutodetect, kAutodetect};
  return number < kTable.size() ? At(kTable, number) : WasmEdgeFormat(number);
}

std::optional<const char*> WasmEdgeEncoding(uint32_t number) {
  static constexpr std::array<const char*, 7> kTable = {"openvino",       "onnx",      "tensorflow", "pytorch",
                                                        "tensorflowlite", kAutodetect, "ggml"};
  return number < kTable.size() ? At(kTable, number) : WasmEdgeFormat(number);
}

std::optional<wasinn_target> WitxTarget(uint32_t number) {
  static constexpr std::array kTable = {WASINN_TARGET_CPU, WASINN_TARGET_GPU, WASINN_TARGET_TPU, WASINN_TARGET_AUTO};
  return At(kTable, number);
}

template <typename T, size_t N>
std::optional<uint32_t> IndexOf(const std::array<T, N>& table, uint32_t value) {
  for (uint32_t i = 0; i < N; ++i) {
    if (table[i] == value) return i;
  }
  return std::nullopt;
}

constexpr std::array kWitxDtypes = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_F64,
                                    WASINN_DTYPE_U8,  WASINN_DTYPE_I32, WASINN_DTYPE_I64};
std::optional<wasinn_dtype> WitxDtype(uint32_t number) { return At(kWitxDtypes, number); }
std::optional<uint32_t> WitxDtypeNumber(uint32_t dtype) { return IndexOf(kWitxDtypes, dtype); }

constexpr std::array kLegacyDtypes = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_U8, WASINN_DTYPE_I32};
std::optional<wasinn_dtype> LegacyDtype(uint32_t number) { return At(kLegacyDtypes, number); }
std::optional<uint32_t> LegacyDtypeNumber(uint32_t dtype) { return IndexOf(kLegacyDtypes, dtype); }

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

std::optional<const char*> WitEncoding(uint32_t number) {
  static constexpr std::array<const char*, 7> kTable = {"openvino",       "onnx", "tensorflow", "pytorch",
                                                        "tensorflowlite", "ggml", kAutodetect};
  return At(kTable, number);
}

std::optional<wasinn_target> WitTarget(uint32_t number) {
  static constexpr std::array kTable = {WASINN_TARGET_CPU, WASINN_TARGET_GPU, WASINN_TARGET_TPU};
  return At(kTable, number);
}

constexpr std::array kWitDtypes = {WASINN_DTYPE_F16, WASINN_DTYPE_F32, WASINN_DTYPE_F64, WASINN_DTYPE_BF16,
                                   WASINN_DTYPE_U8,  WASINN_DTYPE_I32, WASINN_DTYPE_I64};
std::optional<wasinn_dtype> WitDtype(uint32_t number) { return At(kWitDtypes, number); }
std::optional<uint32_t> WitDtypeNumber(uint32_t dtype) { return IndexOf(kWitDtypes, dtype); }

uint32_t WitError(wasinn_code code) {
  static constexpr std::array kCases = {
      WASINN_ERROR_INVALID_ARGUMENT,      WASINN_ERROR_INVALID_ENCODING, WASINN_ERROR_TIMEOUT,   WASINN_ERROR_RUNTIME,
      WASINN_ERROR_UNSUPPORTED_OPERATION, WASINN_ERROR_TOO_LARGE,        WASINN_ERROR_NOT_FOUND, WASINN_ERROR_SECURITY};
  constexpr auto kUnknown = static_cast<uint32_t>(kCases.size());
  if (code == WASINN_ERROR_BUSY || code == WASINN_ERROR_UNAVAILABLE || code == WASINN_ERROR_LOST)
    code = WASINN_ERROR_RUNTIME;
  if (code == WASINN_ERROR_CONTEXT_FULL || code == WASINN_ERROR_PROMPT_TOO_LONG) code = WASINN_ERROR_TOO_LARGE;
  if (code == WASINN_ERROR_MODEL_NOT_FOUND) code = WASINN_ERROR_NOT_FOUND;
  return IndexOf(kCases, code).value_or(kUnknown);
}

}  // namespace

std::optional<const char*> WasmEdgeFormat(uint32_t number) {
  constexpr uint32_t kFirst = 7;
  static constexpr std::array<const char*, 8> kFormats = {"neuralspeed", "burn",    "whisper",        "mlx",
                                                          "piper",       "chattts", "openvino-genai", "bitnet"};
  return number < kFirst ? std::nullopt : At(kFormats, number - kFirst);
}

const Profile kWitx = {WitxEncoding, WitxTarget, WitxDtype, WitxDtypeNumber, WitxError};
const Profile kWasmEdge = {WasmEdgeEncoding, WitxTarget, WitxDtype, WitxDtypeNumber, WasmEdgeError};
const Profile kWitx01 = {WitxEncoding, WitxTarget, LegacyDtype, LegacyDtypeNumber, Witx01Error};
// WAMR numbers encodings like WIT.
const Profile kWamr = {WitEncoding, WitxTarget, WitxDtype, WitxDtypeNumber, WasmEdgeError};
const Profile kLegacy = {WitEncoding, WitxTarget, LegacyDtype, LegacyDtypeNumber, WasmEdgeError};
const Profile kWit = {WitEncoding, WitTarget, WitDtype, WitDtypeNumber, WitError};

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
