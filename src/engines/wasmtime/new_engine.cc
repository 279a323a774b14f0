#include "engines/wasmtime/new_engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wasmtime.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace wasinn::wasmtime {
namespace {

using engines::EngineOptions;
using engines::Pool;
using engines::Result;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kAllOf32Bits = 4 * kGiB;
constexpr uint64_t kPage = 64 << 10;                // of a guest
constexpr uint64_t kGuard = uint64_t{32} << 20;     // that Wasmtime leaves after each memory
constexpr uint32_t kTablesEach = 8;                 // of a program's instances together
constexpr uint64_t kTableElements = 32768;          // Python's interpreter has 10,000
constexpr uint64_t kElement = 8;                    // bytes
constexpr uint32_t kStacksOfAsync = 16;             // of a guest's tasks that wait at once
constexpr size_t kInstanceBytes = size_t{1} << 24;  // only a limit: an instance takes its memory from the heap
constexpr size_t kDumpMapped = 1024;                // as Wasmtime
// The part of a guest's memory that is cleared for the next guest and not given back to the system, which would have to
// touch new pages.
constexpr size_t kKeptBytes = size_t{64} << 10, kKeptOfTables = size_t{16} << 10;

uint64_t BytesOfEach(const Pool& pool) {
  if (pool.memory_bytes == 0) return kAllOf32Bits;
  return (pool.memory_bytes + kPage - 1) / kPage * kPage;
}

// Whether the system gives that much address space at once; none of it is used yet.
bool SystemGives(uint64_t bytes, int protection) {
  void* const at = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  munmap(at, bytes);
  return true;
}

// Wasmtime ends the OS process if it gets no room for its pool, so this tries it before.
Result<void> CheckRoom(const Pool& pool) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (pool.memory_bytes > kMax / 2) return std::unexpected("engine.pool_memory_bytes is more than memories can have");
  const uint64_t each = BytesOfEach(pool) + kGuard;
  const uint64_t tables = uint64_t{pool.instances} * kTablesEach * kTableElements * kElement;
  const std::string remedy = "fewer engine.pool_instances or a smaller engine.pool_memory_bytes need less";
  if (pool.instances > (kMax - tables) / each - 2) {
    return std::unexpected(fmt::format("a pool for {} memories of {} bytes is larger than the address space; {}",
                                       pool.instances, BytesOfEach(pool), remedy));
  }
  const uint64_t memories = pool.instances * each + 2 * kGuard;
  if (SystemGives(memories, PROT_NONE) && SystemGives(tables, PROT_READ | PROT_WRITE)) return {};
  return std::unexpected(
      fmt::format("a pool for {} memories of {} bytes needs {:.1f} GiB of address space, which the "
                  "system does not give: {}; {}",
                  pool.instances, BytesOfEach(pool), static_cast<double>(memories + tables) / static_cast<double>(kGiB),
                  std::strerror(errno), remedy));
}

#ifdef WASMTIME_FEATURE_POOLING_ALLOCATOR
// `stacks` of each guest, for calls that wait without a thread.
Result<void> SetPool(wasm_config_t* config, const Pool& pool, uint32_t stacks) {
  if (Result<void> room = CheckRoom(pool); !room) return room;
  constexpr uint32_t kAny = std::numeric_limits<uint32_t>::max();
  using PoolPtr =
      std::unique_ptr<wasmtime_pooling_allocation_config_t, Deleter<wasmtime_pooling_allocation_config_delete>>;
  const PoolPtr made(wasmtime_pooling_allocation_config_new());
  wasmtime_pooling_allocation_config_t* const its = made.get();
  const uint32_t n = pool.instances;
  // Memories and tables need room; everything else is taken from the heap and limited by these two.
  wasmtime_pooling_allocation_config_total_memories_set(its, n);
  wasmtime_pooling_allocation_config_max_memory_size_set(its, BytesOfEach(pool));
  wasmtime_pooling_allocation_config_max_memories_per_module_set(its, n);
  wasmtime_pooling_allocation_config_linear_memory_keep_resident_set(its, kKeptBytes);
  wasmtime_pooling_allocation_config_total_tables_set(its, n * kTablesEach);
  wasmtime_pooling_allocation_config_max_tables_per_module_set(its, kTablesEach);
  wasmtime_pooling_allocation_config_table_elements_set(its, kTableElements);
  wasmtime_pooling_allocation_config_table_keep_resident_set(its, kKeptOfTables);
  wasmtime_pooling_allocation_config_total_core_instances_set(its, kAny);
  wasmtime_pooling_allocation_config_max_core_instance_size_set(its, kInstanceBytes);
  wasmtime_pooling_allocation_config_total_component_instances_set(its, kAny);
  wasmtime_pooling_allocation_config_max_component_instance_size_set(its, kInstanceBytes);
#ifdef WASMTIME_FEATURE_GC
  wasmtime_pooling_allocation_config_total_gc_heaps_set(its, n);
#endif
#ifdef WASMTIME_FEATURE_ASYNC
  wasmtime_pooling_allocation_config_total_stacks_set(its, n * stacks);
#endif
  if (pool.memory_bytes != 0) wasmtime_config_memory_reservation_set(config, BytesOfEach(pool));
  wasmtime_pooling_allocation_strategy_set(config, its);
  return {};
}
#else
Result<void> SetPool(wasm_config_t*, const Pool&, uint32_t) {
  return std::unexpected("this build of Wasmtime has no pool (engine.pool_instances)");
}
#endif

// Asynchronous functions make every call of a component slower, so only engines that need them have them.
Result<void> SetAsync([[maybe_unused]] wasm_config_t* config, bool is_async) {
#ifdef WASMTIME_FEATURE_COMPONENT_MODEL_ASYNC
  wasmtime_config_concurrency_support_set(config, is_async);
#else
  if (is_async) {
    return std::unexpected(
        "this Wasmtime library cannot run components of WASI 0.3; docs/components.md explains how to get one that can");
  }
#endif
  return {};
}

uint32_t StacksOf(const EngineOptions& options, ProgramKind kind) {
  if (kind == ProgramKind::kAsyncComponent) return kStacksOfAsync;
  return options.served || options.http ? 1 : 0;
}

// Wasmtime ends the OS process if it cannot write a profiler's file.
Result<void> CheckProfile(engines::Profile profile) {
  if (profile == engines::Profile::kNone) return {};
  const bool is_dump = profile == engines::Profile::kJitDump;
  const std::string path = is_dump ? fmt::format("jit-{}.dump", getpid()) : fmt::format("/tmp/perf-{}.map", getpid());
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  // The mapping makes perf see the dump.
  void* const at =
      file < 0 || !is_dump ? nullptr : mmap(nullptr, kDumpMapped, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  const bool can = file >= 0 && at != MAP_FAILED;
  const int why = errno;
  if (at != nullptr && at != MAP_FAILED) munmap(at, kDumpMapped);
  if (file >= 0) close(file);
  if (can) return {};
  return std::unexpected(fmt::format("--profile: cannot write {}: {}", path, std::strerror(why)));
}

}  // namespace

EngineOptions ForThreads(EngineOptions options) {
  options.interruptible = true;
  options.metered = false;
  options.pool = {};
  return options;
}

Result<EnginePtr> NewEngine(const EngineOptions& options, ProgramKind kind) {
  if (Result<void> profile = CheckProfile(options.profile); !profile) return std::unexpected(profile.error());
  std::unique_ptr<wasm_config_t, Deleter<wasm_config_delete>> config(wasm_config_new());
  wasmtime_config_wasm_threads_set(config.get(), true);
  wasmtime_config_shared_memory_set(config.get(), true);
  // Each makes tight loops a quarter slower, so they are only set if they are wanted.
  wasmtime_config_epoch_interruption_set(config.get(), options.interruptible);
  wasmtime_config_consume_fuel_set(config.get(), options.metered);
  if (auto set = SetAsync(config.get(), kind == ProgramKind::kAsyncComponent); !set)
    return std::unexpected(set.error());
  if (options.profile == engines::Profile::kPerfMap) {
    wasmtime_config_profiler_set(config.get(), WASMTIME_PROFILING_STRATEGY_PERFMAP);
  } else if (options.profile == engines::Profile::kJitDump) {
#ifndef WASMTIME_FEATURE_PROFILING
    return std::unexpected("this build of Wasmtime writes no jitdump; --profile perfmap is there");
#endif
    wasmtime_config_profiler_set(config.get(), WASMTIME_PROFILING_STRATEGY_JITDUMP);
  }
  if (options.pool.instances != 0) {
    if (Result<void> set = SetPool(config.get(), options.pool, StacksOf(options, kind)); !set)
      return std::unexpected(set.error());
  }
  return EnginePtr(wasm_engine_new_with_config(config.release()));
}

std::string CodeSettings(const EngineOptions& options) {
  const Pool& pool = options.pool;
  return fmt::format("interruptible={} metered={} pool={}", options.interruptible, options.metered,
                     pool.instances == 0 ? 0 : BytesOfEach(pool));
}

}  // namespace wasinn::wasmtime
