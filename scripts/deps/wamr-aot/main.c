/* WAMR's compiler: a WebAssembly module as native code, for WAMR's runtime. WAMR's own program, wamrc, is not among the
   sources that there are; this one is over the same functions, and its flags are among wamrc's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aot_export.h"
#include "wasm_export.h"

static const char kUsage[] =
    "usage: wamrc [FLAGS] -o OUT.aot IN.wasm\n"
    "  --enable-multi-thread     threads of a guest can be ended while they compute: guests with threads need it\n"
    "  --enable-dump-call-stack  a trap's backtrace has the functions that led there; slower\n"
    "  --enable-tail-call        the guest uses tail calls\n"
    "  --opt-level=N             0 to 3 (3)\n"
    "  --bounds-checks=0|1       1: code checks what it accesses; 0: memory protection does (the default on 64 bits)\n"
    "  --target=NAME             the code's architecture (x86_64, aarch64, ...), instead of this very processor\n"
    "  --cpu=NAME                with --target: its processor\n";

typedef struct {
  AOTCompOption option;
  const char *in, *out;
} Arguments;

/* WAMR's defaults; what the guest's module does not use costs nothing. */
static AOTCompOption DefaultOption(void) {
  AOTCompOption option = {0};
  option.opt_level = 3;
  option.size_level = 3;
  option.output_format = AOT_FORMAT_FILE;
  option.bounds_checks = 2; /* the platform's default */
  option.stack_bounds_checks = 2;
  option.enable_simd = true;
  option.enable_aux_stack_check = true;
  option.enable_bulk_memory = true;
  option.enable_bulk_memory_opt = true;
  option.enable_ref_types = true;
  option.enable_call_indirect_overlong = true;
  option.enable_extended_const = true;
  aot_call_stack_features_init_default(&option.call_stack_features);
  return option;
}

/* The value of --NAME=VALUE, NULL if the argument is another. */
static char* ValueOf(char* argument, const char* flag) {
  const size_t length = strlen(flag);
  return strncmp(argument, flag, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

static bool Parse(int argc, char** argv, Arguments* arguments) {
  AOTCompOption* option = &arguments->option;
  static char name_section[] = "name";
  static char* sections[] = {name_section};
  char* value = NULL;
  for (int i = 1; i < argc; ++i) {
    char* const argument = argv[i];
    if (strcmp(argument, "-o") == 0) {
      if (++i == argc) return false;
      arguments->out = argv[i];
    } else if (strcmp(argument, "--enable-multi-thread") == 0) {
      option->enable_thread_mgr = true;
    } else if (strcmp(argument, "--enable-dump-call-stack") == 0) {
      option->aux_stack_frame_type = AOT_STACK_FRAME_TYPE_STANDARD;
      option->custom_sections = sections;
      option->custom_sections_count = 1;
    } else if (strcmp(argument, "--enable-tail-call") == 0) {
      option->enable_tail_call = true;
    } else if ((value = ValueOf(argument, "--opt-level")) != NULL) {
      option->opt_level = (uint32_t)strtoul(value, NULL, 10);
    } else if ((value = ValueOf(argument, "--bounds-checks")) != NULL) {
      option->bounds_checks = strcmp(value, "1") == 0;
    } else if ((value = ValueOf(argument, "--cpu")) != NULL) {
      option->target_cpu = value;
    } else if ((value = ValueOf(argument, "--target")) != NULL) {
      option->target_arch = value;
    } else if (argument[0] == '-' || arguments->in != NULL) {
      return false;
    } else {
      arguments->in = argument;
    }
  }
  return arguments->in != NULL && arguments->out != NULL && option->opt_level <= 3;
}

static int Fail(const char* what, const char* why) {
  fprintf(stderr, "wamrc: %s: %s\n", what, why);
  return EXIT_FAILURE;
}

static uint8_t* ReadFile(const char* path, uint32_t* size) {
  FILE* const file = fopen(path, "rb");
  uint8_t* bytes = NULL;
  long length = 0;
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0 && length < INT32_MAX &&
      fseek(file, 0, SEEK_SET) == 0 && (bytes = malloc((size_t)length)) != NULL &&
      fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  *size = (uint32_t)length;
  return bytes;
}

static int Compile(Arguments* arguments, wasm_module_t module) {
  const aot_comp_data_t data = aot_create_comp_data(module, arguments->option.target_arch, false);
  if (data == NULL) return Fail(arguments->in, aot_get_last_error());
  int result = EXIT_SUCCESS;
  const aot_comp_context_t context = aot_create_comp_context(data, &arguments->option);
  if (context == NULL || !aot_compile_wasm(context)) {
    result = Fail(arguments->in, aot_get_last_error());
  } else if (!aot_emit_aot_file(context, data, arguments->out)) {
    result = Fail(arguments->out, aot_get_last_error());
  }
  if (context != NULL) aot_destroy_comp_context(context);
  aot_destroy_comp_data(data);
  return result;
}

int main(int argc, char** argv) {
  Arguments arguments = {DefaultOption(), NULL, NULL};
  if (!Parse(argc, argv, &arguments)) {
    fputs(kUsage, stderr);
    return 2;
  }
  uint32_t size = 0;
  uint8_t* const bytes = ReadFile(arguments.in, &size);
  if (bytes == NULL) return Fail(arguments.in, "cannot be read, or is empty");
  RuntimeInitArgs args = {0};
  args.mem_alloc_type = Alloc_With_System_Allocator;
  if (!wasm_runtime_full_init(&args)) return Fail("WAMR", "does not start");
  char error[256] = "";
  const wasm_module_t module = wasm_runtime_load(bytes, size, error, sizeof error);
  const int result = module == NULL ? Fail(arguments.in, error) : Compile(&arguments, module);
  if (module != NULL) wasm_runtime_unload(module);
  wasm_runtime_destroy();
  free(bytes);
  return result;
}
