# shellcheck shell=bash disable=SC2034,SC2154
# The ONNX project's own tests of single operators: share/onnx-node-tests/CASE/{model.onnx,test_data_set_0/…}.

version=$ONNX_WHEEL
pins="$ONNX_WHEEL $ONNX_WHEEL_SHA256"
tools=(pip)

fill() {
  local dir=$1 work=$2
  wheel onnx "$ONNX_WHEEL" "$ONNX_WHEEL_SHA256" "$work/wheel"
  mkdir -p "$dir/share/doc/onnx"
  cp "$work"/wheel/onnx-*.dist-info/LICENSE "$dir/share/doc/onnx/"
  mv "$work/wheel/onnx/backend/test/data/node" "$dir/share/onnx-node-tests"
}
