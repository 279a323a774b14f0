// The template's backend under another name: `absent` has no framework, `broken` has one that does not open, `second`
// has one format more, and a format of `nameless` has no name.
#include <wasinn/backend.h>

// wasinn_backend_query of template.cc, which is compiled under this name here.
extern "C" const wasinn_backend* TemplateQuery(uint16_t host_abi_major, uint16_t host_abi_minor);

namespace {

#if defined IS_absent || defined IS_broken
#ifdef IS_absent
constexpr wasinn_code kCode = WASINN_ERROR_UNSUPPORTED_OPERATION;
#else
constexpr wasinn_code kCode = WASINN_ERROR_RUNTIME;
#endif

wasinn_error* Open(const wasinn_host_services*, const char*, wasinn_backend_state**) {
  static wasinn_error error = {sizeof(wasinn_error), kCode, "there is nothing to open", [](wasinn_error*) {}};
  return &error;
}
#endif

int32_t StartsWithAPipe(const uint8_t* start, size_t n, uint64_t) { return n > 0 && start[0] == '|' ? 1 : 0; }

// One that WasmEdge has a number for.
constexpr wasinn_format kPiper = {
    .struct_size = sizeof(wasinn_format), .name = "piper", .companion = ".json", .recognise = StartsWithAPipe};
#ifdef IS_nameless
constexpr wasinn_format kNameless = {.struct_size = sizeof(wasinn_format)};
#endif

wasinn_backend Make() {
  wasinn_backend table = *TemplateQuery(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  table.name = BACKEND;
#if defined IS_absent || defined IS_broken
  table.open = Open;
#elif defined IS_second
  static const wasinn_format* const formats[] = {table.formats[0], &kPiper};
  table.formats = formats;
  table.n_formats = 2;
#else
  static const wasinn_format* const formats[] = {&kPiper, &kNameless};
  table.formats = formats;
  table.n_formats = 2;
#endif
  return table;
}

}  // namespace

const wasinn_backend* wasinn_backend_query(uint16_t, uint16_t) {
  static const wasinn_backend table = Make();
  return &table;
}
