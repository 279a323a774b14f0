#!/bin/sh
# Runs scripts/deps.sh with its arguments in an image, and removes what only that needs.
set -eu
XDG_CACHE_HOME=/opt/wasinn/cache /opt/wasinn/scripts/deps.sh "$@"
rm -rf /opt/wasinn/cache /var/lib/apt/lists/* /var/cache/apt/*.bin /root/.cache /root/.cargo/registry /root/.npm /root/.m2 /tmp/*
