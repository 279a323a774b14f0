# shellcheck shell=bash disable=SC2034,SC2154
# A bare Debian 12 as an archive, for what builds images where there is no container registry: what debian:bookworm-slim has, and certificates.
# It is of the day that it is made: apt checks it by Debian's signature.

version=12
pins=bookworm
tools=(mmdebstrap)

fill() {
  local tree=$1 work=$2 mirror
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || die "no Debian mirror in this machine's apt sources; name one in WASINN_DEBIAN_MIRROR"
  mkdir -p "$tree/share/bare-debian"
  cat >"$work/sources" <<END
deb $mirror $pins main
deb $mirror $pins-updates main
deb $(debian_security "$mirror") $pins-security main
END
  TMPDIR=$work quietly mmdebstrap --variant=minbase --include=ca-certificates \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
    "$pins" "$tree/share/bare-debian/$pins.tar.gz" "$work/sources"
}
