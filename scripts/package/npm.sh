# shellcheck shell=bash disable=SC2154
# Makes the npm package dist/wasinn-VERSION.tgz: packaging/npm with its addon, around a prefix with the command and the libraries. The addon
# calls the C API, and Node by N-API, so it is one for every Node.
tools=$root/.deps/npm-tools
[ -d "$tools" ] || die "what the npm package is made with is missing; scripts/deps.sh packages provides it"
need npm
package=$work/package

# compile_addon FILE
compile_addon() {
  local library=$package/prefix/lib/libwasinn.so.${version%.*}
  "${CXX:-c++}" -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Werror -Wl,-z,relro,-z,now -s -ffile-prefix-map="$root/=" \
    -DNAPI_VERSION=8 -DNAPI_DISABLE_CPP_EXCEPTIONS -DNODE_ADDON_API_DISABLE_DEPRECATED -DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS \
    -isystem "$tools/node-addon-api" -isystem "$tools/node-api-headers/include" -I "$root/include" \
    "$root"/packaging/npm/src/*.cc "$library" -Wl,-rpath,"\$ORIGIN/prefix/lib" -o "$1"
}

# Runs programs and models: without the server, which has 60 libraries of its own, and without the files that builds
# need.
components=(lib command guest wasmtime wamr tflite)
for backend in onnx openvino tflite torch tensorflow llama; do components+=("backend-$backend"); done
mkdir -p "$package"
cp -r "$root"/packaging/npm/{bin,lib,package.json,README.md} "$root/LICENSE" "$package/"
install_relocatable "$package/prefix" "${components[@]}"
library=$(readlink -f "$package/prefix/lib/libwasinn.so.${version%.*}")
find "$package/prefix" -type l -delete # npm packs no links
mv "$library" "$package/prefix/lib/libwasinn.so.${version%.*}"
mv "$package/prefix/share/doc/wasinn/licences" "$package/licences"
rm -rf "$package"/prefix/share/{doc,man,bash-completion,zsh,fish}
compile_addon "$package/wasinn.node"
bind_to_older "$package"
check_relocatable "$package"
(cd "$package" && npm pkg set "version=$version" "homepage=$site" "author=$maintainer <$email>" "repository.type=git" "repository.url=git+$url.git" && quietly npm pack --ignore-scripts --pack-destination "$dist")
say "$dist/wasinn-$version.tgz: $(du -h "$dist/wasinn-$version.tgz" | cut -f 1)"
