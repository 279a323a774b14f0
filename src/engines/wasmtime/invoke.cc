#include "engines/wasmtime/invoke.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "engines/invoked_numbers.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/exports.h"
#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {
namespace {

using engines::Exit;
using engines::Number;
using engines::NumberType;
using engines::Result;

constexpr std::string_view kInitialize = "_initialize";

using FunctionTypePtr = std::unique_ptr<wasm_functype_t, Deleter<wasm_functype_delete>>;

bool AreNumbers(wasm_engine_t* engine, const wasm_valtype_vec_t* types) {
  return std::all_of(types->data, types->data + types->size,
                     [&](const wasm_valtype_t* type) { return NumberKindOf(engine, type).has_value(); });
}

// The C API numbers the four as NumberType does.
NumberType TypeOf(const wasm_valtype_t* type) { return static_cast<NumberType>(wasm_valtype_kind(type)); }

wasmtime_val_t ToValue(const Number& number) {
  wasmtime_val_t value = {};
  value.kind = static_cast<wasmtime_valkind_t>(number.index());
  std::visit([&value](auto its) { std::memcpy(&value.of, &its, sizeof its); }, number);
  return value;
}

Number FromValue(const wasmtime_val_t& value) {
  switch (value.kind) {
    case WASMTIME_I32:
      return value.of.i32;
    case WASMTIME_I64:
      return value.of.i64;
    case WASMTIME_F32:
      return value.of.f32;
    default:
      return value.of.f64;
  }
}

std::optional<wasmtime_func_t> FunctionOf(wasmtime_context_t* context, const wasmtime_instance_t& instance,
                                          std::string_view name) {
  wasmtime_extern_t item;
  if (!wasmtime_instance_export_get(context, &instance, name.data(), name.size(), &item)) return {};
  if (item.kind == WASMTIME_EXTERN_FUNC) return item.of.func;
  wasmtime_extern_delete(&item);
  return {};
}

Result<std::vector<wasmtime_val_t>> ToValues(const std::string& name, const wasm_valtype_vec_t* types,
                                             std::span<const std::string> words) {
  std::vector<NumberType> number_types;
  for (const wasm_valtype_t* type : std::span(types->data, types->size)) number_types.push_back(TypeOf(type));
  const auto numbers = engines::ReadNumbers(name, number_types, words);
  if (!numbers) return std::unexpected(numbers.error());
  std::vector<wasmtime_val_t> values;
  for (const Number& number : *numbers) values.push_back(ToValue(number));
  return values;
}

}  // namespace

Result<void> CheckInvoked(wasm_engine_t* engine, const wasmtime_module_t* module, const std::string& name) {
  wasm_exporttype_vec_t exports;
  wasmtime_module_exports(module, &exports);
  Result<void> found = std::unexpected(engines::NoFunction(name));
  for (size_t i = 0; i < exports.size; ++i) {
    const wasm_name_t* its_name = wasm_exporttype_name(exports.data[i]);
    const auto* type = wasm_externtype_as_functype_const(wasm_exporttype_type(exports.data[i]));
    if (type == nullptr || std::string_view(its_name->data, its_name->size) != name) continue;
    const bool fits = AreNumbers(engine, wasm_functype_params(type)) && AreNumbers(engine, wasm_functype_results(type));
    found = fits ? Result<void>() : std::unexpected(engines::NoNumbers(name));
  }
  wasm_exporttype_vec_delete(&exports);
  return found;
}

Exit Invoke(wasmtime_context_t* context, const wasmtime_instance_t& instance, const std::string& name,
            std::span<const std::string> words) {
  wasm_trap_t* trap = nullptr;
  if (const auto initialize = FunctionOf(context, instance, kInitialize)) {
    wasmtime_error_t* error = wasmtime_func_call(context, &*initialize, nullptr, 0, nullptr, 0, &trap);
    if (error != nullptr || trap != nullptr) return ToExit(error, trap);
  }
  const auto function = FunctionOf(context, instance, name);
  if (!function) return Exit::Failed(engines::NoFunction(name));
  const FunctionTypePtr type(wasmtime_func_type(context, &*function));
  const auto values = ToValues(name, wasm_functype_params(type.get()), words);
  if (!values) return Exit::Failed(values.error());
  std::vector<wasmtime_val_t> results(wasm_functype_results(type.get())->size);
  wasmtime_error_t* error =
      wasmtime_func_call(context, &*function, values->data(), values->size(), results.data(), results.size(), &trap);
  if (error != nullptr || trap != nullptr) return ToExit(error, trap);
  for (const wasmtime_val_t& result : results) std::fputs(engines::LineOf(FromValue(result)).c_str(), stdout);
  return {};
}

}  // namespace wasinn::wasmtime
