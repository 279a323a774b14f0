"""The part of a document that a program writes: what stands between two lines that are comments there."""


def between_marks(text, begin, end, inside):
    """`text` with `inside` between its lines `begin` and `end`, of which it must have one each."""
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the file has no two lines '{begin}' and '{end}'")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{inside}\n{end}{rest.split(end)[1]}"
