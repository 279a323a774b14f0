# shellcheck shell=bash disable=SC2034
# The gate, and the shards: tests that a landing needs if it touches what they are about (scripts/test.sh --touched), and a release needs all.
# A test names its tier where it is registered: TIER, ASAN and TSAN in tests/CMakeLists.txt.

shards=(core matrix onnx openvino tflite torch tensorflow llama remote llama-server clients servers wasmedge wamr-aot languages packages real-models gpu
  docs asan-serve bench fuzz tidy)

frameworks=(onnxruntime openvino tflite torch tensorflow llama)

# tier NAME: sets `needs`, what scripts/deps.sh provides for it; `builds`, presets of CMakePresets.json; `options`, for CMake, of builds with sanitizers;
# and `touched`, the paths whose change asks for it, as a regular expression.
tier() {
  needs=(build guest wasmtime-component wamr) builds=(check) options=() touched='^$'
  local backend="^(backends/($1|common)/|include/wasinn/backend\.h|tests/backends/($1|contract|test_host))"
  case $1 in
    gate) needs+=(component-guests tests serve grpc-python lint "${frameworks[@]}") builds=(check asan tsan) ;;
    core) needs+=(units wasm3 tests "${frameworks[@]}" serve) touched='^(tests/unit|fuzz)/' ;;
    matrix) needs+=(component-guests tests serve wasm3 "${frameworks[@]}") builds=(check tsan)
      touched='^(src/(abi|api|engines)/|tests/(conformance|hostile|engines)/|backends/common/|include/wasinn/backend\.h)' ;;
    onnx) needs+=(tests onnxruntime) touched=$backend ;;
    openvino | tflite | torch | tensorflow) needs+=(tests onnxruntime "$1") builds=(check asan) options=("-DWASINN_BACKEND_${1^^}=ON") touched=$backend ;;
    llama) needs+=(tests onnxruntime serve llama) builds=(check asan) options=(-DWASINN_BACKEND_LLAMA=ON) touched="$backend|^src/serve/openai/|^scripts/deps/llama" ;;
    remote) needs+=(tests onnxruntime serve grpc-python llama llama-server) builds=(check asan tsan) options=(-DWASINN_BACKEND_REMOTE=ON)
      touched='^(backends/remote/|proto/|tests/remote/|tests/backends/(remote|scripted))' ;;
    llama-server) needs+=(tests onnxruntime serve serve-tests llama llama-server) touched='^(src/serve/openai/|scripts/deps/llama|tests/serve/llama)' ;;
    clients) needs+=(tests onnxruntime serve serve-tests llama) touched='^(src/serve/|proto/)' ;;
    servers) needs+=(tests onnxruntime serve remote-tests grpc-python ray) touched='^(backends/remote/|examples/ray/|proto/)' ;;
    wasmedge) needs+=(tests wasmedge "${frameworks[@]}") touched='^(src/(engines/wasmedge|plugins)/|bench/wasmedge/|examples/embed-wasmedge/)' ;;
    wamr-aot) needs+=(tests wamr-aot onnxruntime) touched='^(src/engines/wamr/|scripts/deps/wamr)' ;;
    languages) needs+=(component-guests rust-guests go-guests tests serve grpc-python "${frameworks[@]}") builds=(check asan) options=(-DWASINN_BUILD_SERVE=ON)
      touched='^(guest/|examples/|src/engines/wasmtime/component|src/serve/(guest_model|handler|route))' ;;
    packages) needs+=(component-guests rust-guests go-guests tests serve serve-tests sbom wheel packages kubernetes images wasmedge "${frameworks[@]}") builds=(release)
      touched='^(packaging/|cmake/|include/|scripts/(package|release|sbom|bom|images)|tests/(packaging|embed|sbom|kubernetes)/)' ;;
    real-models) needs+=(tests real-models go-guests "${frameworks[@]}") touched='^tests/real_models/' ;;
    gpu) needs+=(tests onnxruntime-webgpu "${frameworks[@]}") builds=(release) touched='^(tests/gpu/|scripts/gpu_test|backends/onnx/device)' ;;
    docs) needs+=(component-guests rust-guests go-guests tests serve "${frameworks[@]}") builds=(release) touched='^(docs/|README\.md|src/cli/|examples/)' ;;
    asan-serve) needs+=(tests serve grpc-python onnxruntime llama) builds=(asan) options=(-DWASINN_BUILD_SERVE=ON -DWASINN_BACKEND_LLAMA=ON -DWASINN_BACKEND_REMOTE=ON)
      touched='^(src/serve/|backends/remote/|tests/(serve|remote)/)' ;;
    bench) needs+=(tests serve "${frameworks[@]}") builds=(release) touched='^bench/' ;;
    fuzz) needs=(build fuzz tensorflow) builds=() touched='^(fuzz/|src/abi/|src/core/isolation/|src/settings/)' ;;
    tidy) needs+=(component-guests tests serve lint wasmedge wasm3 "${frameworks[@]}") builds=() touched='\.(c|cc|h|hpp)$' ;;
    *) die "there is no shard '$1'; there are: ${shards[*]}" ;;
  esac
}
