#!/usr/bin/env bash
# Makes dist/wasinn-VERSION-linux-ARCHITECTURE.tar.gz: a prefix with the command, the libraries and the headers, for any Linux with a
# glibc as new as this machine's, to be unpacked anywhere.
# shellcheck disable=SC2154
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in common package; do
  # shellcheck source=/dev/null
  . "$scripts/lib/$part.sh"
done

name=wasinn-$version-linux-$(uname -m)
install_relocatable "$work/$name"
check_relocatable "$work/$name"
tar --create --file "$dist/$name.tar.gz" --use-compress-program="gzip -n" --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@$SOURCE_DATE_EPOCH" "$name"
say "$dist/$name.tar.gz: $(du -h "$dist/$name.tar.gz" | cut -f 1)"
