"""Writes Python's values as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(str(key))} = {_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _text(str(value))  # also a path


def _text(text: str) -> str:
    # A string of JSON is also one of TOML, except for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml(settings: Mapping[str, object]) -> str:
    """{"limits": {"max_graphs": 4}} as the text of a settings file."""
    return "".join(f"{_text(key)} = {_value(value)}\n" for key, value in settings.items())
