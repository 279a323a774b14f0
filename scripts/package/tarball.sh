# shellcheck shell=bash disable=SC2154
# Makes dist/wasinn-VERSION-linux-ARCHITECTURE.tar.gz: a prefix with the command, the libraries and the headers, for any Linux of
# `policy`, to be unpacked anywhere.

name=wasinn-$version-linux-$(uname -m)
install_relocatable "$work/$name"
bind_to_older "$work/$name"
check_relocatable "$work/$name"
archive "$dist/$name.tar.gz" "$work" "$name"
