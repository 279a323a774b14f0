// What the sections of a module or component say that matters before an engine sees it. Bytes that are not well-formed
// say nothing: the engine then finds what is wrong with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::engines {

// A module whose program is its start section, as AssemblyScript makes them, in the usual form: with that function
// exported as _start instead, so that it is called once the instance is there. Nothing for all other modules, and for
// libraries, which export _initialize.
std::optional<std::string> StartAsExport(std::string_view module);

// An import of a module, or one of a component, whose `name` is "" then.
struct Import {
  std::string_view module, name;
};
std::vector<Import> ImportsOf(std::string_view wasm);

// The names of what a component exports; of a module nothing.
std::vector<std::string_view> ExportsOfComponent(std::string_view wasm);

// Calls `use` with each core module: the one that it is, or all in a component.
void EachCoreModule(std::string_view wasm, const std::function<void(std::string_view module)>& use);

// Which forms of memories a module has, imported ones included.
struct MemoryForms {
  size_t count = 0;
  bool any_64 = false;  // of addresses of 64 bits
};
MemoryForms MemoryFormsOf(std::string_view module);

// How many elements the tables of a module begin with, all together.
uint64_t TableElements(std::string_view module);

// How many tables a module defines, or all modules of a component together.
uint64_t TablesOf(std::string_view wasm);

// How many bytes the host has for an instance of the largest core module, about: for what it imports, its functions and its globals.
// Memories and tables are others.
uint64_t LargestInstance(std::string_view wasm);

}  // namespace wasinn::engines
