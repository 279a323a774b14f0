// Reads facts from the sections of a module or component that are needed before an engine compiles it. Bytes that are
// not well-formed give no facts: the engine then reports their errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::engines {

// For a module whose program is its start section, as AssemblyScript makes them: the usual form, in which that function
// is exported as _start instead and called after the instance was made. No value for all other modules, and for
// libraries, which export _initialize.
std::optional<std::string> StartAsExport(std::string_view module);

// An import of a module; or one of a component, whose `name` is "".
struct Import {
  std::string_view module, name;
};
std::vector<Import> ImportsOf(std::string_view wasm);

// The names of a component's exports; none for a module.
std::vector<std::string_view> ExportsOfComponent(std::string_view wasm);

// Calls `use` with each core module: with the bytes themselves, or with all modules in a component.
void EachCoreModule(std::string_view wasm, const std::function<void(std::string_view module)>& use);

// The kinds of memories in a module, including imported ones.
struct MemoryForms {
  size_t count = 0;
  bool any_64 = false;  // of addresses of 64 bits
};
MemoryForms MemoryFormsOf(std::string_view module);

// The initial number of elements of all tables of a module together.
uint64_t TableElements(std::string_view module);

// The number of tables that a module, or all modules of a component, define.
uint64_t TablesOf(std::string_view wasm);

// About the bytes that the host needs for an instance of the largest core module: for its imports, its functions and
// its globals. Memories and tables are not included.
uint64_t LargestInstance(std::string_view wasm);

}  // namespace wasinn::engines
