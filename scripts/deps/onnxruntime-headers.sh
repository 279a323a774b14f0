# shellcheck shell=bash disable=SC2034,SC2154
# ONNX Runtime's headers: include/onnxruntime/.

version=$ONNXRUNTIME_HEADERS
pins="$ONNXRUNTIME_HEADERS $ONNXRUNTIME_HEADERS_SUITE"
tools=()

fill() {
  local dir=$1 work=$2
  deb_from_suite "$ONNXRUNTIME_HEADERS_SUITE" libonnxruntime-dev "$ONNXRUNTIME_HEADERS" "$work/deb"
  mkdir -p "$dir/include"
  cp -r "$work/deb/usr/include/onnxruntime" "$dir/include/"
}
