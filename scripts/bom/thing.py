"""A package of the SBOM, before it is written in SPDX's format."""

import dataclasses
import re

import license_expression

SPDX = license_expression.get_spdx_licensing()

# Text that only this licence has.
TEXTS = {
    "MIT": "Permission is hereby granted, free of charge, to any person obtaining a copy of this software",
    "BSD-3-Clause": r"Redistribution and use in source and binary forms.*Neither the names? of",
    "Apache-2.0": r"^(?!.*LLVM Exceptions).*Apache License,? Version 2\.0",
    "Apache-2.0 WITH LLVM-exception": r"Apache License,? Version 2\.0.*LLVM Exceptions to the Apache 2\.0 License",
}


@dataclasses.dataclass(eq=False)
class Thing:
    """`licence` is an SPDX expression, or None if it is unknown; `licence_comment` says where it is declared, or why it
    is unknown."""

    name: str
    version: str | None = None
    licence: str | None = None
    licence_comment: str = ""
    supplier: str | None = None
    purl: str | None = None
    sha256: str | None = None  # of the package that `purl` names
    homepage: str | None = None
    comment: str | None = None
    files: list = dataclasses.field(default_factory=list)
    links: list = dataclasses.field(default_factory=list)  # things that are compiled into its files
    needs: list = dataclasses.field(default_factory=list)  # things that its files open, and that are not in the prefix


def licence_of(expression):
    """The SPDX expression, as a manifest may spell it; None if it is none. Cargo once wrote "/" for "OR"."""
    text = re.sub(r"\s*/\s*", " OR ", expression.strip())
    try:
        return text if SPDX.parse(text, validate=True, strict=True) is not None else None
    except license_expression.ExpressionError:
        return None


def has_text(licence, path):
    """Whether the file has the licence's text."""
    return path.is_file() and bool(re.search(TEXTS[licence], " ".join(path.read_text(errors="replace").split())))
