#!/bin/sh
# Has scripts/deps.sh provide its arguments in an image, and leaves nothing behind that only it needs.
set -eu
XDG_CACHE_HOME=/opt/wasinn/cache /opt/wasinn/scripts/deps.sh "$@"
rm -rf /opt/wasinn/cache /var/lib/apt/lists/* /var/cache/apt/*.bin /root/.cache /root/.cargo/registry /root/.npm /root/.m2 /tmp/*
