# shellcheck shell=bash disable=SC2034,SC2154
# A voice detector that others made and use (MIT): share/silero-vad/*.onnx and silero_vad.jit (TorchScript).

version=$SILERO_VAD_WHEEL
pins="$SILERO_VAD_WHEEL $SILERO_VAD_WHEEL_SHA256"
tools=(pip)

fill() {
  local dir=$1 work=$2
  wheel silero-vad "$SILERO_VAD_WHEEL" "$SILERO_VAD_WHEEL_SHA256" "$work/wheel"
  mkdir -p "$dir/share/silero-vad"
  cp "$work"/wheel/silero_vad/data/*.{onnx,jit} "$work"/wheel/silero_vad-*.dist-info/licenses/LICENSE "$dir/share/silero-vad/"
}
