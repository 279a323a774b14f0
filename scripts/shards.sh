# shellcheck shell=bash disable=SC2034
# The gate, which each landing needs, and the shards. A landing needs the shards whose subject it touches
# (scripts/test.sh --touched), and a release needs all. A test names its tier where it is registered: TIER, ASAN and
# TSAN in tests/CMakeLists.txt.

shards=(core matrix onnx openvino tflite torch tensorflow llama remote llama-server clients servers peers wasmedge wamr-aot languages packages real-models gpu
  docs asan-serve bench fuzz tidy)

frameworks=(onnxruntime openvino tflite torch tensorflow) # and llama-text or llama

# tier NAME: sets `needs`, the arguments for scripts/deps.sh; `builds`, presets of CMakePresets.json; `options`, CMake's
# options for builds with sanitizers; and `touched`, the paths whose changes ask for it, as a regular expression.
tier() {
  needs=(build guest wasmtime-tests wamr components tests) builds=(check) options=() touched='^$'
  local backend="^(backends/($1|common)/|include/wasinn/backend\.h|tests/backends/($1|contract|test_host))"
  case $1 in
    dev) needs=(build units) builds=(core) ;; # all that the preset builds
    arm64) needs+=(onnxruntime tflite serve grpc-python wheel packages arm64) builds=(check arm64) ;;
    gate) needs+=(serve grpc-python lint "${frameworks[@]}" llama-text) builds=(check asan tsan) ;;
    core) needs+=(units wasm3 "${frameworks[@]}" llama-text serve) touched='^(tests/unit|fuzz)/' ;;
    matrix) needs+=(rust-guests go-guests real-models serve wasm3 "${frameworks[@]}" llama) builds=(check tsan)
      touched='^(src/(abi|api|engines)/|tests/(conformance|hostile|engines)/|backends/common/|include/wasinn/backend\.h)' ;;
    onnx) needs+=(onnxruntime) touched=$backend ;;
    openvino | tflite | torch | tensorflow) needs+=(onnxruntime "$1") builds=(check asan) options=("-DWASINN_BACKEND_${1^^}=ON") touched=$backend ;;
    llama) needs+=(go-guests onnxruntime serve llama) builds=(check asan) options=(-DWASINN_BACKEND_LLAMA=ON) touched="$backend|^src/serve/openai/|^scripts/deps/llama" ;;
    remote) needs+=(onnxruntime serve grpc-python llama) builds=(check asan tsan) options=(-DWASINN_BACKEND_REMOTE=ON)
      touched='^(backends/remote/|proto/|tests/remote/|tests/backends/(remote|scripted))' ;;
    llama-server) needs+=(onnxruntime serve serve-tests llama llama-server) touched='^(src/serve/openai/|scripts/deps/llama|tests/serve/llama)' ;;
    clients) needs+=(onnxruntime serve serve-tests openai-clients llama) touched='^(src/serve/|proto/)' ;;
    servers) needs+=(onnxruntime serve remote-tests grpc-python ray registries) touched='^(backends/remote/|src/artifacts/|examples/ray/|proto/)' ;;
    peers) needs+=(onnxruntime) touched='^(bench/peers/|tests/conformance/(suite|guests|known|steps))' ;;
    wasmedge) needs+=(rust-guests go-guests real-models wasmedge "${frameworks[@]}" llama) touched='^(src/(engines/wasmedge|plugins)/|bench/wasmedge/|examples/embed-wasmedge/)' ;;
    wamr-aot) needs+=(wamr-aot onnxruntime) touched='^(src/engines/wamr/|scripts/deps/wamr)' ;;
    languages) needs+=(component-guests rust-guests go-guests zig-guests assemblyscript-guests serve grpc-python "${frameworks[@]}" llama) builds=(check asan) options=(-DWASINN_BUILD_SERVE=ON)
      touched='^(guest/|examples/|rust/|src/engines/wasmtime/component|src/serve/(models/guest_model|routes/))' ;;
    packages) needs+=(wasmtime-component component-guests rust-guests go-guests serve serve-tests sbom wheel packages kubernetes images wasmedge "${frameworks[@]}" llama)
      builds=(release) touched='^(packaging/|cmake/|include/|scripts/(package|publish|release|sbom|bom)|tests/(packaging|embed|sbom|kubernetes)/)' ;;
    real-models) needs+=(real-models go-guests "${frameworks[@]}" llama) touched='^tests/real_models/' ;;
    gpu) needs+=(onnxruntime-webgpu "${frameworks[@]}" llama) builds=(release) touched='^(tests/gpu/|scripts/gpu_test|backends/onnx/device)' ;;
    docs) needs+=(component-guests rust-guests go-guests zig-guests assemblyscript-guests serve readers smollm2 "${frameworks[@]}" llama) builds=(release) touched='^(docs/|README\.md|src/cli/|examples/)' ;;
    asan-serve) needs+=(serve grpc-python onnxruntime llama) builds=(asan) options=(-DWASINN_BUILD_SERVE=ON -DWASINN_BACKEND_LLAMA=ON -DWASINN_BACKEND_REMOTE=ON)
      touched='^(src/serve/|backends/remote/|tests/(serve|remote)/)' ;;
    bench) needs+=(wasmtime-component bench serve "${frameworks[@]}" llama) builds=(release) touched='^bench/' ;;
    fuzz) needs=(build fuzz tensorflow) builds=() touched='^(fuzz/|src/abi/|src/core/isolation/|src/settings/)' ;;
    tidy) needs+=(serve tidy wasmedge wasm3 "${frameworks[@]}" llama) builds=() touched='\.(c|cc|h|hpp)$' ;;
    *) die "there is no shard '$1'; there are: ${shards[*]}" ;;
  esac
}
