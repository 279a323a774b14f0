# shellcheck shell=bash disable=SC2154
# Makes dist/wasinn-VERSION-site.tar.gz: the pages as scripts/site.sh builds them.
"$scripts/site.sh"
archive "$dist/wasinn-$version-site.tar.gz" "$root/build" site
