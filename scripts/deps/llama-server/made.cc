// What llama.cpp's build writes itself: that there are no pages, and which build this is. And what is called of the code for images though there are none.
#include <cstdio>

#include "build-info.h"
#include "mtmd-helper.h"
#include "ui.h"

const llama_ui_asset* llama_ui_find_asset(const std::string& /*name*/) { return nullptr; }
bool llama_ui_use_gzip() { return false; }
const std::array<llama_ui_asset, 0>& llama_ui_get_assets() {
  static const std::array<llama_ui_asset, 0> none = {};
  return none;
}

int llama_build_number() { return 0; }
const char* llama_commit() { return "sdist"; }
const char* llama_compiler() { return __VERSION__; }
const char* llama_build_target() { return "wasinn"; }
const char* llama_build_info() { return "b0-sdist"; }
void llama_print_build_info(const char* llama_version, FILE* stream) {
  std::fprintf(stream, "version: %s\n", llama_version);
}

void mtmd_helper_log_set(ggml_log_callback /*log*/, void* /*user*/) {}
mtmd_helper_init_opt mtmd_helper_init_opt_default() { return {}; }
mtmd_context_params mtmd_context_params_default() { return {}; }
void mtmd_free(mtmd_context* /*none*/) {}
