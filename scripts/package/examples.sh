# shellcheck shell=bash disable=SC2154
# Makes dist/wasinn-VERSION-examples.tar.gz: the examples with their sources, the models that are in the repository, and the guests that were built of them.
name=wasinn-$version-examples
git -C "$root" archive --prefix="$name/" HEAD examples models guest LICENSE | tar -x -C "$work"
find "$build/guests" -maxdepth 1 -name '*.wasm' -exec install -D -m 644 -t "$work/$name/build/release/guests" {} +
archive "$dist/$name.tar.gz" "$work" "$name"
