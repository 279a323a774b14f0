# shellcheck shell=bash disable=SC2034,SC2154
# PyTorch's C++ libraries for CPUs and their headers, in a folder of their own: torch/lib/libtorch.so with what it needs,
# torch/include/. A program that links them runs with this version only.

version=$PYTORCH_MAVEN
pins="$PYTORCH_MAVEN $PYTORCH_MAVEN_SHA256 $PYTORCH_OPENBLAS_MAVEN $PYTORCH_OPENBLAS_MAVEN_SHA256 $PYTORCH
  $PYTORCH_HEADERS_PLATFORM $PYTORCH_HEADERS_SHA256"
tools=(pip mvn patchelf)

fill() {
  local dir=$1/torch work=$2 fetching doc=$1/share/doc/torch
  [ "$(uname -m)" = x86_64 ] || die "torch: only the libraries for x86_64 are pinned; point CMAKE_PREFIX_PATH at a libtorch"
  wheel torch "$PYTORCH" "$PYTORCH_HEADERS_SHA256" "$work/wheel" "$PYTORCH_HEADERS_PLATFORM" &
  fetching=$!
  maven org.bytedeco:pytorch "$PYTORCH_MAVEN" linux-x86_64 "$PYTORCH_MAVEN_SHA256" "$work/pytorch"
  maven org.bytedeco:openblas "$PYTORCH_OPENBLAS_MAVEN" linux-x86_64 "$PYTORCH_OPENBLAS_MAVEN_SHA256" "$work/openblas"
  wait "$fetching"
  mkdir -p "$dir/lib" "$doc"
  mv "$work"/pytorch/org/bytedeco/pytorch/linux-x86_64/lib{c10,gomp,torch,torch_cpu}.so* "$dir/lib/"
  mv "$work"/openblas/org/bytedeco/openblas/linux-x86_64/lib{openblas,gfortran,quadmath}.so* "$dir/lib/"
  beside_itself "$dir"/lib/*.so*
  cp -r "$work/wheel/torch/include" "$dir/"
  cp "$work"/wheel/torch-*.dist-info/licenses/{LICENSE,NOTICE} "$doc/"
}
