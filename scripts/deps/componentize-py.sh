# shellcheck shell=bash disable=SC2034,SC2154
# What makes components of Python programs: component-tools/bin/componentize-py.

version=$COMPONENTIZE_PY_WHEEL
pins="$COMPONENTIZE_PY_WHEEL $COMPONENTIZE_PY_WHEEL_SHA256"
tools=(pip)

fill() {
  local work=$2 tree=$1/component-tools
  wheel componentize-py "$COMPONENTIZE_PY_WHEEL" "$COMPONENTIZE_PY_WHEEL_SHA256" "$work/wheel"
  mkdir -p "$tree/bin" "$tree/python"
  cp -r "$work/wheel/componentize_py" "$tree/python/"
  cat >"$tree/bin/componentize-py" <<'SCRIPT'
#!/bin/sh
PYTHONPATH=$(dirname "$(readlink -f "$0")")/../python exec python3 -B -c 'import componentize_py; componentize_py.script()' "$@"
SCRIPT
  chmod +x "$tree/bin/componentize-py"
}
