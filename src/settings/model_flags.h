// The three spellings of "the guest may name this model": wasinn's own, Wasmtime's and WasmEdge's.
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
  std::string encoding;  // a format's name; empty: the file tells it. The host knows whether there is such a format
  Target target = WASINN_TARGET_CPU;
  uint32_t version = 0;
  bool isolate = false;
  const char* flag = "";  // that said so, for errors
};

template <typename T>
using Parsed = std::expected<T, std::string>;

// --model NAME=PATH[,encoding=ENCODING][,target=TARGET][,version=NUMBER][,isolate=true]. A path may contain commas.
Parsed<ModelFlag> ParseModelFlag(std::string_view text);

// -S nn,nn-graph=FORMAT::DIR, as `wasmtime run` takes it; FORMAT:DIR too. The model's name is the folder's. `nn` and
// `cli`, which are always on here, add nothing. `grants`: gets inherit-env, inherit-network and http, which else are refused.
Parsed<std::vector<ModelFlag>> ParseWasmtimeFlag(std::string_view text, std::vector<std::string>* grants = nullptr);

// --nn-preload NAME:ENCODING:TARGET:PATH[:PATH...], as `wasmedge` takes it.
Parsed<ModelFlag> ParseWasmEdgeFlag(std::string_view text);

// Registers the model, and says so clearly if one of its files is not there.
Status AddModel(Host& host, const ModelFlag& model);

}  // namespace wasinn::settings
