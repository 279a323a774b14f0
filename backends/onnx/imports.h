// The functions that a library imports.
#ifndef WASINN_BACKENDS_ONNX_IMPORTS_H_
#define WASINN_BACKENDS_ONNX_IMPORTS_H_

namespace wasinn::onnx {

// From now on, calls of `name` out of the library that has `address` go to `replacement`. Other libraries are left
// alone. Returns what the library called before; NULL if it does not import such a function, or its table of them
// cannot be written.
void* ReplaceImport(const void* address, const char* name, void* replacement);

// What the library that has `address` calls for `name`; NULL if it does not import such a function.
void* ImportOf(const void* address, const char* name);

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_IMPORTS_H_
