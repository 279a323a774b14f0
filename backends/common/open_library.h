// dlopen, as this folder's backends call it for a framework's libraries.
#pragma once

#include <dlfcn.h>

namespace wasinn::backend {

// Flags for dlopen: local symbols, and the library's own symbols before those of the program and its libraries, for a framework that a program with
// other versions of what it has inside would break (docs/decisions/0098). A program with an allocator of its own has the usual order.
int OwnSymbolsFirst();

// NULL: dlerror() has the reason.
void* OpenLibrary(const char* file, int flags = RTLD_NOW | RTLD_LOCAL);

}  // namespace wasinn::backend
