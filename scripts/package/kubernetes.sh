# shellcheck shell=bash disable=SC2154
# Makes dist/wasinn-VERSION-kubernetes.tar.gz: packaging/kubernetes, with the images of this version in the registry of packaging/home.toml.
cp -r "$root/packaging/kubernetes" "$work/kubernetes"
grep -rlF registry.example.com/ "$work/kubernetes" | xargs -r sed -i -E "s|registry\.example\.com/wasinn/([a-z-]+):[0-9.]+|$registry/\1:$version|"
archive "$dist/wasinn-$version-kubernetes.tar.gz" "$work" kubernetes
