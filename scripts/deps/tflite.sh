# shellcheck shell=bash disable=SC2034,SC2154
# TensorFlow Lite in a folder of its own: tflite/lib/libtensorflowlite_c.so (the library of the Java binding, under the name
# that the C API's library has elsewhere) and tflite/include/.

version=$TFLITE_JAR
pins="$TFLITE_JAR $TFLITE_JAR_SHA256_X86_64 $TFLITE_JAR_SHA256_AARCH64 $TFLITE_HEADERS $TFLITE_HEADERS_SHA256"
tools=(pip mvn npm patchelf)

fill() {
  local dir=$1/tflite work=$2 doc=$1/share/doc/tflite classifier hash
  case $(uname -m) in
    x86_64) classifier=linux-x86_64 hash=$TFLITE_JAR_SHA256_X86_64 ;;
    aarch64) classifier=linux-arm64 hash=$TFLITE_JAR_SHA256_AARCH64 ;;
    *) die "there is no TensorFlow Lite for $(uname -m)" ;;
  esac
  maven org.bytedeco:tensorflow-lite "$TFLITE_JAR" "$classifier" "$hash" "$work/jar"
  npm_package tfjs-tflite-node "$TFLITE_HEADERS" "$TFLITE_HEADERS_SHA256" "$work/npm"
  mkdir -p "$dir/lib" "$dir/include" "$doc"
  cp "$work/jar/org/bytedeco/tensorflowlite/$classifier/libjnitensorflowlite.so" "$dir/lib/libtensorflowlite_c.so"
  beside_itself "$dir/lib/libtensorflowlite_c.so"
  cp -r "$work/npm/cc_deps/include/tensorflow" "$dir/include/"
  cp "$work"/jar/META-INF/maven/org.bytedeco/tensorflow-lite/pom.xml "$doc/" # names the licence, Apache 2.0
}
