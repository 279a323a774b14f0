// What a process that compiles is told, and tells. It has a socket for its standard input, which brings the program up to its
// end. Its answer is a head and what that announces: what was made, or the text of an error.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "engines/engine.h"
#include "engines/wasmtime/precompiled.h"

namespace wasinn::wasmtime {

// In its arguments: kCompilerName, then one for each of these.
constexpr char kCompilerName[] = "wasinn-compiler";

// The first ones as in ProgramKind; kText is to become a program.
enum class CompilerTask : uint8_t { kModule, kThreads, kComponent, kText };
constexpr CompilerTask TaskOf(ProgramKind kind) { return static_cast<CompilerTask>(kind); }

struct CompilerOrder {
  pid_t parent = 0;  // with whom it ends
  CompilerTask task = CompilerTask::kModule;
  uint64_t max_bytes = 0;          // of its memory; 0: any
  engines::EngineOptions options;  // only what code depends on: it compiles by itself

  static constexpr size_t kWords = 7;
  std::array<std::string, kWords> ToWords() const;
  // Nothing: these are not what ToWords gave.
  static std::optional<CompilerOrder> FromWords(int n, char** words);
};

// The exit code of a process that got no more memory, where it could tell.
constexpr int kNoMemory = 3;

struct AnswerHead {
  uint64_t is_well = 0;
  uint64_t bytes = 0;
};

}  // namespace wasinn::wasmtime
