// A stand-in for LiteRT's own library, which has other functions than TensorFlow Lite's C API.
__attribute__((visibility("default"))) int LiteRtCreateEnvironment(int n_options, const void* options,
                                                                   void** environment) {
  (void)n_options, (void)options, (void)environment;
  return 1;
}
