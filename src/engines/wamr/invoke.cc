#include "engines/wamr/invoke.h"

#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "engines/invoked_numbers.h"
#include "engines/wamr/clusters.h"

namespace wasinn::wamr {
namespace {

using engines::Number;
using engines::NumberType;
using engines::Result;

constexpr char kInitialize[] = "_initialize";
constexpr std::string_view kWasi = "wasi_";

using Types = std::vector<NumberType>;

// WAMR numbers the four types as NumberType does. No value if there is another type.
std::optional<Types> NumbersOf(uint32_t count, const auto& kind_of) {
  Types types;
  for (uint32_t i = 0; i < count; ++i) {
    const wasm_valkind_t kind = kind_of(i);
    if (kind > WASM_F64) return std::nullopt;
    types.push_back(static_cast<NumberType>(kind));
  }
  return types;
}

wasm_val_t ToValue(const Number& number) {
  wasm_val_t value = {};
  value.kind = static_cast<wasm_valkind_t>(number.index());
  std::visit([&value](auto its) { std::memcpy(&value.of, &its, sizeof its); }, number);
  return value;
}

Number FromValue(const wasm_val_t& value) {
  switch (value.kind) {
    case WASM_I32:
      return value.of.i32;
    case WASM_I64:
      return value.of.i64;
    case WASM_F32:
      return value.of.f32;
    default:
      return value.of.f64;
  }
}

// WAMR itself calls _initialize of such a module.
bool ImportsWasi(wasm_module_t module) {
  const int32_t count = wasm_runtime_get_import_count(module);
  for (int32_t i = 0; i < count; ++i) {
    wasm_import_t item = {};
    wasm_runtime_get_import_type(module, i, &item);
    if (std::string_view(item.module_name).starts_with(kWasi)) return true;
  }
  return false;
}

// WAMR reports in this way that the guest ended itself. The exit code is enough then.
void ForgetExit(wasm_module_inst_t instance) {
  const char* const exception = wasm_runtime_get_exception(instance);
  if (exception != nullptr && std::strstr(exception, "wasi proc exit") != nullptr)
    wasm_runtime_clear_exception(instance);
}

// False: the instance has the error.
bool Initialize(wasm_module_inst_t instance, wasm_exec_env_t env) {
  if (ImportsWasi(wasm_runtime_get_module(instance))) return true;
  const wasm_function_inst_t function = wasm_runtime_lookup_function(instance, kInitialize);
  if (function == nullptr || wasm_func_get_param_count(function, instance) != 0) return true;
  return wasm_runtime_call_wasm(env, function, 0, nullptr);
}

}  // namespace

Result<void> CheckInvoked(wasm_module_t module, const std::string& name) {
  const int32_t count = wasm_runtime_get_export_count(module);
  for (int32_t i = 0; i < count; ++i) {
    wasm_export_t item = {};
    wasm_runtime_get_export_type(module, i, &item);
    if (item.kind != WASM_IMPORT_EXPORT_KIND_FUNC || item.name != name) continue;
    const wasm_func_type_t type = item.u.func_type;
    const bool fits = NumbersOf(wasm_func_type_get_param_count(type),
                                [&](uint32_t p) { return wasm_func_type_get_param_valkind(type, p); }) &&
                      NumbersOf(wasm_func_type_get_result_count(type),
                                [&](uint32_t r) { return wasm_func_type_get_result_valkind(type, r); });
    if (!fits) return std::unexpected(engines::NoNumbers(name));
    if (CanSpawnThreads(module)) return std::unexpected(engines::kInvokedThreads);
    return {};
  }
  return std::unexpected(engines::NoFunction(name));
}

Result<void> Invoke(wasm_module_inst_t instance, const std::string& name, std::span<const std::string> words) {
  const wasm_exec_env_t env = wasm_runtime_get_exec_env_singleton(instance);
  const wasm_function_inst_t function = wasm_runtime_lookup_function(instance, name.c_str());
  if (function == nullptr) return std::unexpected(engines::NoFunction(name));
  std::vector<wasm_valkind_t> kinds(wasm_func_get_param_count(function, instance));
  wasm_func_get_param_types(function, instance, kinds.data());
  const std::optional<Types> types =
      NumbersOf(static_cast<uint32_t>(kinds.size()), [&](uint32_t i) { return kinds[i]; });
  if (!types) return std::unexpected(engines::NoNumbers(name));
  const auto numbers = engines::ReadNumbers(name, *types, words);
  if (!numbers) return std::unexpected(numbers.error());
  std::vector<wasm_val_t> values, results(wasm_func_get_result_count(function, instance));
  for (const Number& number : *numbers) values.push_back(ToValue(number));
  if (!Initialize(instance, env) ||
      !wasm_runtime_call_wasm_a(env, function, static_cast<uint32_t>(results.size()), results.data(),
                                static_cast<uint32_t>(values.size()), values.data())) {
    ForgetExit(instance);
    return {};
  }
  for (const wasm_val_t& result : results) std::fputs(engines::LineOf(FromValue(result)).c_str(), stdout);
  return {};
}

}  // namespace wasinn::wamr
