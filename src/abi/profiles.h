// The numbers of a guest's ABI for errors, element types, encodings and targets. The dialects of wasi-nn disagree about
// them, so each is a table; wasinn's own numbers never reach a guest.
#pragma once

#include <wasinn/wasinn.h>

#include <cstdint>
#include <optional>
#include <span>

namespace wasinn::abi {

struct Profile {
  // By number. No value: this ABI does not have the number, or the type.
  std::optional<const char*> encoding(uint32_t number) const;  // a format's name; "": the bytes decide
  std::optional<wasinn_target> target(uint32_t number) const;
  std::optional<wasinn_dtype> dtype(uint32_t number) const;
  std::optional<uint32_t> dtype_number(uint32_t dtype) const;

  std::span<const char* const> encodings;
  bool has_wasmedge_formats;
  std::span<const wasinn_target> targets;
  std::span<const wasinn_dtype> dtypes;
  uint32_t (*error)(wasinn_code code);
};

// wasi_ephemeral_nn by wasi-nn.witx, as in Wasmtime. 5 and 6 both mean "autodetect or ggml", since the dialects of
// WasmEdge and WAMR give them either meaning: the bytes decide.
extern const Profile kWitx;

// The same functions with WasmEdge's and with WAMR's numbers, if the host knows which of them its guests use.
extern const Profile kWasmEdge;
extern const Profile kWamr;

// As in the crate wasi-nn 0.1 to 0.3: other numbers of types, and no errors from 6 on, which its guests do not expect.
extern const Profile kWitx01;

// The formats of WasmEdge's numbers from 7 on, which no other dialect has.
std::optional<const char*> WasmEdgeFormat(uint32_t number);

const Profile& ProfileOf(wasinn_dialect dialect);

// WAMR's module `wasi_nn`, which has fewer element types.
extern const Profile kLegacy;

// wasi:nn: the numbers are the positions of the cases in the WIT text, in all versions the same.
extern const Profile kWit;

// The limit of a guest's JSON text. Grammars of language models are the longest texts.
inline constexpr uint32_t kMaxConfigBytes = 256 << 10;

}  // namespace wasinn::abi
