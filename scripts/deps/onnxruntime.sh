# shellcheck shell=bash disable=SC2034,SC2154
# ONNX Runtime's library: lib/libonnxruntime.so.VERSION and the link of its soname. Nothing links it: it is opened at run time.

version=$ONNXRUNTIME_WHEEL
pins="$ONNXRUNTIME_WHEEL $ONNXRUNTIME_WHEEL_SHA256"
tools=(pip)

fill() {
  local dir=$1 work=$2 doc=$1/share/doc/onnxruntime
  wheel onnxruntime "$ONNXRUNTIME_WHEEL" "$ONNXRUNTIME_WHEEL_SHA256" "$work/wheel"
  mkdir -p "$dir/lib" "$doc"
  cp "$work"/wheel/onnxruntime/capi/libonnxruntime*.so* "$dir/lib/"
  cp "$work"/wheel/onnxruntime/{LICENSE,ThirdPartyNotices.txt} "$doc/"
  /sbin/ldconfig -N -n "$dir/lib" # only makes the links that the libraries' sonames ask for
}
