// Numbers that an invoked function of a core module takes and returns, as words of a command line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engines/engine.h"

namespace wasinn::engines {

// As the alternatives of Number are numbered.
enum class NumberType : uint8_t { kI32, kI64, kF32, kF64 };
using Number = std::variant<int32_t, int64_t, float, double>;

// Of a function's parameters, a word for each. An integer may have a sign or not: 4294967295 and -1 are the same i32.
Result<std::vector<Number>> ReadNumbers(const std::string& function, std::span<const NumberType> types,
                                        std::span<const std::string> words);

// A line.
std::string LineOf(const Number& number);

// Why a function of this name cannot be invoked, on any engine.
std::string NoFunction(const std::string& name);
std::string NoNumbers(const std::string& name);
inline constexpr char kInvokedThreads[] = "--invoke is not for programs with threads";

}  // namespace wasinn::engines
