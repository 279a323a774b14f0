# shellcheck shell=bash disable=SC2034,SC2154
# TensorFlow: tensorflow/lib/libtensorflow_cc.so.2 with the library that it asks for, and the headers of its C API in
# tensorflow/include. The rest of the wheel is Python. On aarch64 the wheel without a GPU has the plain name.

version=$TENSORFLOW_WHEEL
pins="$TENSORFLOW_WHEEL $TENSORFLOW_WHEEL_SHA256"
tools=(pip)

fill() {
  local dir=$1 work=$2 name=tensorflow-cpu from header
  [ "$(uname -m)" != aarch64 ] || name=tensorflow
  wheel "$name" "$TENSORFLOW_WHEEL" "$TENSORFLOW_WHEEL_SHA256" "$work/wheel"
  from=$work/wheel/tensorflow
  mkdir -p "$dir/tensorflow/lib" "$dir/share/doc/tensorflow"
  mv "$from/libtensorflow_cc.so.2" "$from/libtensorflow_framework.so.2" "$dir/tensorflow/lib/"
  # All that c_api.h includes.
  for header in tensorflow/c/{c_api,c_api_macros,tf_attrtype,tf_buffer,tf_datatype,tf_status,tf_tensor,tf_tstring}.h \
    tensorflow/core/platform/ctstring.h tensorflow/core/public/release_version.h xla/tsl/c/tsl_status.h \
    tsl/platform/ctstring.h tsl/platform/ctstring_internal.h; do
    mkdir -p "$dir/tensorflow/include/${header%/*}"
    mv "$from/include/$header" "$dir/tensorflow/include/$header"
  done
  mv "$from/THIRD_PARTY_NOTICES.txt" "$from/include/LICENSE" "$dir/share/doc/tensorflow/"
}
