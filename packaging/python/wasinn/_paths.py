"""Where the package's native files are."""

import pathlib

#: What an installed wasinn has: `bin`, `lib`, `include`.
PREFIX = pathlib.Path(__file__).resolve().parent / "_prefix"
COMMAND = PREFIX / "bin" / "wasinn"
