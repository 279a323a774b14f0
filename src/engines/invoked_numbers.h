// The parameters and results of an invoked function of a core module, as words of a command line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engines/engine.h"

namespace wasinn::engines {

// In the order of Number's alternatives.
enum class NumberType : uint8_t { kI32, kI64, kF32, kF64 };
using Number = std::variant<int32_t, int64_t, float, double>;

// Reads a function's parameters, a word each. An integer may have a sign: 4294967295 and -1 are the same i32.
Result<std::vector<Number>> ReadNumbers(const std::string& function, std::span<const NumberType> types,
                                        std::span<const std::string> words);

// A number as a line.
std::string LineOf(const Number& number);

// The error for a function of this name that cannot be invoked, on any engine.
std::string NoFunction(const std::string& name);
std::string NoNumbers(const std::string& name);
inline constexpr char kInvokedThreads[] = "--invoke is not for programs with threads";

}  // namespace wasinn::engines
