# shellcheck shell=bash disable=SC2154
# Gets files out of packages of other languages' registries, by these registries' ordinary clients, with the user's
# configuration.

# python_with_pip: the Python that runs pip. The first in PATH may lack pip; then Debian's is installed (see
# fetch_tools).
python_with_pip() {
  local p
  for p in python3 /usr/bin/python3; do
    if command -v "$p" >/dev/null && "$p" -c 'import pip' 2>/dev/null; then
      printf '%s\n' "$p"
      return 0
    fi
  done
  return 1
}

# cargo_at_least VERSION: a cargo that is new enough. Debian 12's package "cargo" cannot even read today's crates.
cargo_at_least() {
  local c v
  for c in cargo /usr/bin/cargo; do
    v=$("$c" --version 2>/dev/null | cut -d ' ' -f 2) || continue
    if [ "$(printf '%s\n' "$1" "$v" | sort -V | head -n 1)" = "$1" ]; then
      command -v "$c"
      return 0
    fi
  done
  return 1
}

# rust_for_wasm: a rustc that has the standard library for WebAssembly, or its sources, from which it can be built.
rust_for_wasm() {
  local r lib
  for r in rustc /usr/bin/rustc; do
    lib=$("$r" --print sysroot 2>/dev/null)/lib/rustlib || continue
    if [ -d "$lib/wasm32-wasip1" ] || [ -d "$lib/src/rust/library/std" ]; then
      command -v "$r"
      return 0
    fi
  done
  return 1
}

# go_for_wasm: a Go that is new enough.
go_for_wasm() {
  local go v
  go=$(command -v go) || return 1
  v=$(GOTOOLCHAIN=local "$go" env GOVERSION 2>/dev/null) || return 1
  v=${v#go}
  [ "$(printf '%s\n' "$GO_MIN" "$v" | sort -V | head -n 1)" = "$GO_MIN" ] && printf '%s\n' "$go"
}

# debian_rust PACKAGE…: Debian 12 has an old Rust, and also a current one, for its browsers.
debian_rust() {
  local p web=''
  ! grep -qs bookworm /etc/os-release || web=-web
  for p in "$@"; do echo "$p$web"; done
}

# fetch_tools TOOL…: the Debian packages that are needed to have these tools: pip; npm; cxx, a C++ compiler; patchelf; cmake, to compile C;
# simde, a header library; mmdebstrap; llvm, the guests' LLVM as a library; cargo, to fetch crates; rust, to compile them; rust-wasm, to compile them
# for WebAssembly. The names of functions below stand for what these run.
fetch_tools() {
  local t
  for t in $(printf '%s\n' "$@" | sort -u); do
    case $t in
      pip | wheel | wheels | npm_pinned) python_with_pip >/dev/null || echo python3-pip ;;
      npm | npm_package) command -v npm >/dev/null || python_with_pip >/dev/null || echo python3-pip ;; # for npm_pinned
      cxx) command -v c++ >/dev/null || echo g++ ;;
      patchelf | beside_itself) command -v patchelf >/dev/null || echo patchelf ;;
      maven)
        python_with_pip >/dev/null || echo python3-pip
        command -v mvn >/dev/null || echo maven
        ;;
      cargo | crate) cargo_at_least "$CARGO_MIN" >/dev/null || debian_rust cargo ;;
      rust)
        cargo_at_least "$RUST_MIN" >/dev/null || debian_rust cargo rustc
        command -v cc >/dev/null || echo gcc libc6-dev # it links
        ;;
      cmake) command -v cmake ninja cc >/dev/null || echo cmake ninja-build gcc libc6-dev ;;
      mmdebstrap) command -v mmdebstrap >/dev/null || echo mmdebstrap ;;
      simde) [ -e /usr/include/simde/wasm/simd128.h ] || echo libsimde-dev ;;
      llvm) echo "libllvm$LLVM" ;; # clang's own
      rust-wasm)
        rust_for_wasm >/dev/null || { debian_rust cargo rustc rust | sed 's/^rust\(-web\)\?$/rust\1-src/'; }
        command -v cc >/dev/null || echo gcc libc6-dev
        echo "clang-$LLVM" "lld-$LLVM" wasi-libc
        ;;
    esac
  done
}

# beside_itself LIBRARY…: lets each library only look for others relative to itself. An empty part of a RUNPATH, as in
# "$ORIGIN:", means the working folder, where a guest may have put something; an absolute one is a folder of the machine
# that built it.
beside_itself() {
  local library all part kept
  for library in "$@"; do
    all=$(patchelf --print-rpath "$library")
    kept=''
    while IFS= read -r part; do
      # shellcheck disable=SC2016 # the linker's word
      case $part in '$ORIGIN' | '$ORIGIN/'*) kept+=${kept:+:}$part ;; esac
    done < <(tr ':' '\n' <<<"$all")
    [ "$kept" = "$all" ] || patchelf --set-rpath "$kept" "$library"
  done
}

# wheel NAME VERSION "SHA256…" DIR [PLATFORM]: unpacks a Python wheel. PLATFORM is that of another machine, for files
# that are the same for all.
wheel() {
  # shellcheck disable=SC2086 # words
  printf '%s==%s%s\n' "$1" "$2" "$(printf ' --hash=sha256:%s' $3)" >"$4.txt"
  unpack_wheels "$4.txt" "$4" "${5:-}"
}

# wheels DIR: unpacks the wheels that deps/NAME.txt lists for a recipe.
wheels() {
  pins_of "$root/scripts/deps/$name.txt" >"$1.txt"
  unpack_wheels "$1.txt" "$1" ''
}

# unpack_wheels REQUIREMENTS DIR PLATFORM: pip checks hashes. The tags are given, so that this machine's version of
# Python does not matter: no Python runs code of a wheel.
unpack_wheels() {
  local requirements=$1 dir=$2 python arch h tags=()
  python=$(python_with_pip)
  arch=$(uname -m)
  for h in 2_35 2_28 2_27 2_25 2_18 2_17 2014 2010 1; do
    case $h in *_*) tags+=(--platform "manylinux_${h}_$arch") ;; *) tags+=(--platform "manylinux${h}_$arch") ;; esac
  done
  [ -z "$3" ] || tags=(--platform "$3")
  quietly "$python" -m pip download --quiet --no-deps --no-cache-dir --require-hashes --only-binary=:all: "${tags[@]}" \
    --implementation cp --python-version 311 --abi cp311 --abi abi3 --abi none --dest "$dir.whl" -r "$requirements"
  unzip_into "$dir" "$dir.whl"/*.whl
  rm -r "$dir.whl"
}

# unzip_into DIR ARCHIVE…: programs stay executable. With `only`, a regular expression, it only unpacks files whose path
# matches.
unzip_into() {
  "$(python_with_pip)" - "${only-}" "$@" <<'END'
import os, re, sys, zipfile
for archive in map(zipfile.ZipFile, sys.argv[3:]):
    for info in archive.infolist():
        if re.search(sys.argv[1], info.filename):
            path = archive.extract(info, sys.argv[2])
            if not info.is_dir() and info.external_attr >> 16 & 0o100:
                os.chmod(path, 0o755)
END
}

# sdist NAME VERSION SHA256 DIR BUILD: unpacks a Python source archive. None of its code runs: BUILD is a folder with a stand-in
# for its build system, which pip asks for the package's name.
sdist() {
  local name=$1 version=$2 sha256=$3 dir=$4 build=$5 python
  python=$(python_with_pip)
  mkdir -p "$dir" "$dir.build/scikit_build_core"
  cp "$build"/scikit_build_core.py "$dir.build/scikit_build_core/build.py"
  printf '%s==%s --hash=sha256:%s\n' "$name" "$version" "$sha256" >"$dir.txt"
  quietly env PYTHONPATH="$dir.build" "$python" -m pip download --quiet --no-deps --no-cache-dir --require-hashes --no-binary=:all: \
    --no-build-isolation --dest "$dir.tar" -r "$dir.txt"
  tar -xzf "$dir.tar"/*.tar.gz -C "$dir" --strip-components 1
  rm -rf "$dir.tar" "$dir.txt" "$dir.build"
}

# crate NAME VERSION SHA256 DIR: copies a crate's sources. cargo checks each download against the registry's checksum;
# that checksum is then compared with the pinned one. Default features are off, to download less.
crate() {
  local name=$1 version=$2 sha256=$3 dir=$4 cargo manifest
  cargo=$(cargo_at_least "$CARGO_MIN")
  mkdir -p "$dir.crate/src"
  touch "$dir.crate/src/lib.rs"
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s = %s\n' \
    "$name" "{ version = \"=$version\", default-features = false }" >"$dir.crate/Cargo.toml"
  # Puts the folder of cargo first in PATH, so that cargo runs the rustc that belongs to it.
  manifest=$(cd "$dir.crate" && PATH=${cargo%/*}:$PATH "$cargo" metadata --quiet --format-version 1 |
    grep -oE "\"manifest_path\":\"[^\"]*/$name-$version/Cargo.toml\"" | cut -d '"' -f 4)
  [ -n "$manifest" ] || die "cargo did not fetch $name $version"
  same_sha256 "$name $version" "$(grep -A 3 -Fx "name = \"$name\"" "$dir.crate/Cargo.lock" | sed -n 's/^checksum = "\(.*\)"/\1/p')" "$sha256"
  cp -r "${manifest%/Cargo.toml}" "$dir"
  rm -rf "$dir.crate"
}

# same_sha256 WHAT CAME PINNED: CAME may be the output of sha256sum.
same_sha256() { [ "${2%% *}" = "$3" ] || die "$1 has the sha256 ${2%% *}, and not the one pinned, $3"; }

# maven GROUP:ARTIFACT VERSION CLASSIFIER SHA256 DIR: unpacks a jar, without what it depends on.
maven() {
  local name=${1#*:} version=$2 classifier=$3 sha256=$4 dir=$5 jar
  # Maven's own files stay for the next jar. It only runs for seconds, so optimizing its code would cost more than it
  # gains.
  MAVEN_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${MAVEN_OPTS-}" quietly mvn --quiet --batch-mode "-Dmaven.repo.local=$work/m2" \
    org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get -Dtransitive=false "-Dartifact=$1:$version:jar:$classifier"
  jar=$(find "$work/m2" -name "$name-$version-$classifier.jar")
  same_sha256 "$name $version" "$(sha256sum <"$jar")" "$sha256"
  unzip_into "$dir" "$jar"
  rm "$jar"
}

# npm_pinned ARGUMENT…: the npm of the recipe nodejs, out of the cache.
npm_pinned() {
  local node
  node=$(recipe nodejs && echo "$cache/$id/component-tools")
  (
    exec 7>"$cache/.nodejs.lock"
    flock 7
    [ -d "$node" ] || { recipe nodejs && make_tree nodejs; }
  )
  PATH=$node/bin:$PATH quietly node "$node/lib/node_modules/npm/bin/npm-cli.js" "$@"
}

# npm_package NAME VERSION SHA256 DIR: unpacks a package of npm's registry, by the installed npm, because Debian's has
# 378 packages. None of its scripts runs.
npm_package() {
  local name=$1 version=$2 sha256=$3 dir=$4 npm=(npm_pinned)
  ! command -v npm >/dev/null || npm=(quietly npm)
  mkdir -p "$dir" "$dir.npm"
  (cd "$dir.npm" && "${npm[@]}" pack --silent --ignore-scripts "$name@$version")
  same_sha256 "$name $version" "$(sha256sum <"$(find "$dir.npm" -name '*.tgz')")" "$sha256"
  tar -xzf "$dir.npm"/*.tgz -C "$dir" --strip-components 1
  rm -rf "$dir.npm"
}

# newest_of KIND NAME: prints the newest version of a package in its registry. KIND is as in fetches.sh.
newest_of() {
  local m2
  case $1 in
    pypi) "$(python_with_pip)" -m pip index versions "$2" 2>/dev/null | sed -nE '1s/.*\((.*)\)$/\1/p' ;;
    cargo) "$(cargo_at_least "$CARGO_MIN")" info --quiet "$2" 2>/dev/null | sed -nE '/^version: /{s/^.*latest (.*)\)$/\1/;s/^version: //;p}' ;;
    npm) npm view "$2" version ;;
    maven)
      m2=$(mktemp -d)
      quietly mvn --quiet --batch-mode "-Dmaven.repo.local=$m2" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get \
        -Dtransitive=false "-Dartifact=$2:LATEST:pom"
      basename "$(dirname "$(find "$m2" -name "${2#*:}-*.pom")")"
      rm -r "$m2"
      ;;
  esac
}
