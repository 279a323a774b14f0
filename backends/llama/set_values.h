// Reads values of keys that are set.
#pragma once

#include <cstdint>

#include "common/config.h"

namespace wasinn::llama {

template <typename T>
void SetNumber(const backend::Config& config, const char* key, double least, double most, T* value) {
  if (const auto number = config.Number(key, least, most)) *value = *number;
}

// T: a number, or std::optional of one.
template <typename Integer, typename T>
void SetInteger(const backend::Config& config, const char* key, int64_t least, int64_t most, T* value) {
  if (const auto number = config.Integer(key, least, most)) *value = static_cast<Integer>(*number);
}
template <typename T>
void SetInteger(const backend::Config& config, const char* key, int64_t least, int64_t most, T* value) {
  SetInteger<T, T>(config, key, least, most, value);
}

inline void SetBool(const backend::Config& config, const char* key, bool* value) {
  *value = config.Bool(key).value_or(*value);
}

}  // namespace wasinn::llama
