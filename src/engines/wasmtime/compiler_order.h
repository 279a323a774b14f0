// The messages from and to a process that compiles. Its standard input is a socket, which brings the program up to the
// program's end. Its answer is a head and the announced bytes: the result, or the text of an error.
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

// The first values are those of ProgramKind; kText converts text to a program.
enum class CompilerTask : uint8_t { kModule, kThreads, kComponent, kAsyncComponent, kText };
constexpr CompilerTask TaskOf(ProgramKind kind) { return static_cast<CompilerTask>(kind); }

struct CompilerOrder {
  pid_t parent = 0;  // the process ends with it
  CompilerTask task = CompilerTask::kModule;
  uint64_t max_bytes = 0;          // of its memory; 0: no limit
  engines::EngineOptions options;  // only those that code depends on: it compiles by itself

  static constexpr size_t kWords = 7;
  std::array<std::string, kWords> ToWords() const;
  // No value: ToWords did not make these.
  static std::optional<CompilerOrder> FromWords(int n, char** words);
};

// The exit code of a process without memory, if it could report that.
constexpr int kNoMemory = 3;

struct AnswerHead {
  uint64_t is_well = 0;
  uint64_t bytes = 0;
};

}  // namespace wasinn::wasmtime
