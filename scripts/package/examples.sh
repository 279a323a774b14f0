# shellcheck shell=bash disable=SC2154
# Makes dist/wasinn-VERSION-examples.tar.gz: the examples with their sources, the models of the repository, and the
# guests that pages run.
name=wasinn-$version-examples
git -C "$root" archive --prefix="$name/" HEAD examples models guest LICENSE | tar -x -C "$work"
(cd "$root" && git grep -hoE 'build/release/guests/[a-z0-9_.-]+\.wasm' -- '*.md') | sort -u | sed 's|.*/||' | while read -r guest; do
  [ ! -f "$build/guests/$guest" ] || install -D -m 644 -t "$work/$name/build/release/guests" "$build/guests/$guest"
done
archive "$dist/$name.tar.gz" "$work" "$name"
