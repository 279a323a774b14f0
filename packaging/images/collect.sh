#!/bin/sh
# Adds to the tree of an image the parts of the system that its programs need: the libraries that they load, with their
# packages' names and copyrights, certificates, users and the folders that a container writes to.
# usage: collect.sh TREE
set -eu
tree=$1

# libraries: lists those of the system that the programs and libraries of the tree load, directly or indirectly.
libraries() {
  find "$tree" -type f \( -perm -u+x -o -name '*.so*' \) | while read -r file; do
    ldd "$file" 2>/dev/null | sed -nE 's/^\s*(.* => )?(\/[^ ]+) \(0x.*/\2/p'
  done | grep -v "^$tree" | sort -u
}

# add_package NAME: adds the record that scanners for vulnerabilities look for, like in distroless images, and its
# copyright.
add_package() {
  mkdir -p "$tree/var/lib/dpkg/status.d" "$tree/usr/share/doc/$1"
  dpkg-query --status "$1" >"$tree/var/lib/dpkg/status.d/$1"
  cp "/usr/share/doc/$1/copyright" "$tree/usr/share/doc/$1/"
}

mkdir -p "$tree/lib64" "$tree/etc/ssl/certs" "$tree/models" "$tree/var/cache/wasinn" "$tree/tmp"
chmod 1777 "$tree/tmp"
chown 65532:65532 "$tree/var/cache/wasinn"
libraries | while read -r library; do
  mkdir -p "$tree${library%/*}"
  cp -L "$library" "$tree$library"
  { dpkg --search "$library" || dpkg --search "$(readlink -f "$library")"; } 2>/dev/null | cut -d : -f 1 # /lib is a link
done | sort -u | while read -r package; do add_package "$package"; done

[ -e /etc/ssl/certs/ca-certificates.crt ] || { apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates; }
cp /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
add_package ca-certificates
cp /etc/os-release "$tree/etc/"
printf 'root:x:0:0:root:/:/nonexistent\nnonroot:x:65532:65532:nonroot:/:/nonexistent\n' >"$tree/etc/passwd"
printf 'root:x:0:\nnonroot:x:65532:\n' >"$tree/etc/group"
