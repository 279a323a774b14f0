// The three spellings of a flag that registers a model: wasinn's own, Wasmtime's and WasmEdge's.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <wasinn/wasinn.hpp>

namespace wasinn::settings {

struct ModelFlag {
  std::string name;
  std::vector<std::string> paths;  // several: the parts of one model, such as OpenVINO's XML and weights
  std::string encoding;            // a format's name; empty: recognised from the file. The host checks the name
  Target target = WASINN_TARGET_CPU;
  uint32_t version = 0;
  bool isolate = false;
  const char* flag = "";  // the flag, for errors
};

template <typename T>
using Parsed = std::expected<T, std::string>;

// --model NAME=PATH[,encoding=ENCODING][,target=TARGET][,version=NUMBER][,isolate=true]. A path may contain commas.
Parsed<ModelFlag> ParseModelFlag(std::string_view text);

// -S nn,nn-graph=FORMAT::DIR, as for `wasmtime run`; FORMAT:DIR too. The model's name is the folder's. `nn` and `cli`
// are always on. `grants` gets inherit-env, inherit-network and http; without it they are refused.
Parsed<std::vector<ModelFlag>> ParseWasmtimeFlag(std::string_view text, std::vector<std::string>* grants = nullptr);

// --nn-preload NAME:ENCODING:TARGET:PATH[:PATH...], as for `wasmedge`.
Parsed<ModelFlag> ParseWasmEdgeFlag(std::string_view text);

// Registers the model. The error names a file that is missing.
Status AddModel(Host& host, const ModelFlag& model);

}  // namespace wasinn::settings
