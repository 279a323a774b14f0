// dlopen, as this folder's backends call it for a framework's libraries.
#ifndef WASINN_BACKENDS_COMMON_OPEN_LIBRARY_H_
#define WASINN_BACKENDS_COMMON_OPEN_LIBRARY_H_

namespace wasinn::backend {

// The flags for dlopen: local symbols, and the library's own symbols before those of the program and its libraries. A program that is linked with
// another version of Protocol Buffers than TensorFlow has inside would break it otherwise (docs/decisions/0098).
int OpenFlags();

// NULL: dlerror() has the reason.
void* OpenLibrary(const char* file, int flags = OpenFlags());

}  // namespace wasinn::backend

#endif  // WASINN_BACKENDS_COMMON_OPEN_LIBRARY_H_
