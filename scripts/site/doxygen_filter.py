"""usage: doxygen_filter.py HEADER: prints one of our headers with comments that Doxygen does not skip."""

import pathlib
import re
import sys

path = pathlib.Path(sys.argv[1])
lines = path.read_text(encoding="utf-8").splitlines()
first = True
for line in lines:
    if first and (head := re.match(r"(/\*|//) wasinn/(\S+) - (.*)", line)):
        start = "/**" if head[1] == "/*" else "///"
        print(f"{start} @file {head[2]}\n{'*' if start == '/**' else '///'} @brief {head[3]}")
        first = False
        continue
    line = re.sub(r"^(\s*)/\* (?!-)", r"\1/** ", line)  # of what follows; "/* ---- Host" is a section of the file
    line = re.sub(r"([;,{)\w] *)/\* ", r"\1/**< ", line)  # of what stands before
    line = re.sub(r"^(\s*)//(?!/)", r"\1///", line)
    line = re.sub(r"([;,{)] +)//(?!/)", r"\1///<", line)
    print(line)
