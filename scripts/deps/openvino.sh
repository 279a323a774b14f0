# shellcheck shell=bash disable=SC2034,SC2154
# OpenVINO in a folder of its own: openvino/include/ (the C headers) and openvino/lib/: the runtime, which looks for its
# plugins and frontends beside itself. Left out: the plugins for Intel's GPUs and NPUs, which want these devices' drivers
# (name a whole installation with the key `library` to use them), and the frontends for Paddle, PyTorch, JAX and GGUF.

version=$OPENVINO_WHEEL
pins="$OPENVINO_WHEEL $OPENVINO_WHEEL_SHA256"
tools=(pip)

fill() {
  local dir=$1/openvino work=$2 libs=$2/wheel/openvino/libs doc=$1/share/doc/openvino name
  wheel openvino "$OPENVINO_WHEEL" "$OPENVINO_WHEEL_SHA256" "$work/wheel"
  mkdir -p "$dir/lib" "$dir/include/openvino" "$doc"
  cp -r "$work/wheel/openvino/include/openvino/c" "$dir/include/openvino/"
  for name in libopenvino.so libopenvino_c.so libopenvino_{ir,onnx,tensorflow,tensorflow_lite}_frontend.so \
    libopenvino_{auto,{intel,arm}_cpu}_plugin.so libtbb.so libtbbmalloc.so libtbbbind_2_5.so libhwloc.so; do
    find "$libs" -name "$name*" -exec cp {} "$dir/lib/" \; # of the two CPU plugins, the one of this kind of machine
  done
  cp -r "$work"/wheel/openvino-*.dist-info/licenses/. "$doc/"
}
