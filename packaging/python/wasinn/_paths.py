"""The places of the package's native files."""

import pathlib

#: What an installed wasinn has: `bin`, `lib`, `include`.
PREFIX = pathlib.Path(__file__).resolve().parent / "_prefix"
COMMAND = PREFIX / "bin" / "wasinn"
