"""What is wrong with a line of svmlight text, where, and what to do about it."""

from __future__ import annotations

from . import lines

LONGEST_QUOTE = 40
BLANKS = b" \t\r\v\f"


class MalformedLine(Exception):
    """A malformed line, at a position in a block of lines."""

    def __init__(self, code: int, block: bytearray, position: int, smallest: int = 0, largest: int = 0) -> None:
        self.code = code
        self.line = block.count(b"\n", 0, position)  # lines of the block before it
        self.column = position - block.rfind(b"\n", 0, position)
        self.reason = _reason(code, _token(block, position), smallest, largest)
        super().__init__(self.reason)

    def message(self, name: str, first_line: int) -> str:
        """Return the whole message; ``first_line`` is the number of the block's first line."""
        return f"{name}, line {first_line + self.line}, column {self.column}: {self.reason}"


def _token(block: bytearray, position: int) -> bytes:
    """Return the word at a position, up to a blank, a comment or the line's end."""
    line_end = block.find(b"\n", position)
    word = bytes(block[position : min(line_end, position + 10_000)])
    for blank in BLANKS:
        word = word.split(bytes([blank]), 1)[0]
    return word.split(b"#", 1)[0]


def quoted(text: bytes) -> str:
    """Return text as Python writes it, shortened."""
    shown = repr(text[:LONGEST_QUOTE])[1:]
    return shown if len(text) <= LONGEST_QUOTE else f"{shown}..."


def _reason(code: int, token: bytes, smallest: int, largest: int) -> str:
    quote = quoted(token)
    lower = token.lower().lstrip(b"+-")
    if code == lines.BAD_LABEL:
        if b"," in token:
            return f"label {quote}: several labels per row (multilabel) are not supported; keep one of them."
        if b":" in token:
            return f"the line begins with {quote}: its label is missing."
        return f"label {quote} is not a finite decimal number."
    if code == lines.BAD_QUERY:
        return f"{quote} is not 'qid:' and an integer of at most 18 digits."
    if code == lines.NO_QUERY:
        return "the row has no 'qid:' after its label; query_id=True asks for one in every row."
    if code == lines.BAD_INDEX:
        if b":" not in token:
            return f"{quote} is not <index>:<value> (is a colon missing, or a blank too many?)."
        index = token.split(b":", 1)[0]
        if index == b"qid":
            return f"{quote}: 'qid:' belongs directly after the label."
        return f"index {quoted(index)} is not an integer of 0 or more."
    if code == lines.OUT_OF_RANGE:
        return _out_of_range(token.split(b":", 1)[0], smallest, largest)
    if code == lines.REPEATED:
        return f"index {quoted(token.split(b':', 1)[0])} is repeated in this row; keep one value, or add them up."
    if code == lines.TOO_LARGE_VALUE:
        return f"{quote} overflows the type it is read into: scale the data (or read it with dtype=float64)."
    if lower.startswith((b"nan", b"inf")):
        return f"value {quote} is not finite: leave missing values out, or replace them."
    return f"value {quote} is not a finite decimal number."


def _out_of_range(index: bytes, smallest: int, largest: int) -> str:
    if smallest == 1 and not index.strip(b"0"):
        return f"index {quoted(index)} in a file declared as one-based; pass zero_based=True or 'auto'."
    if largest >= 10**18 - 1:
        return f"index {quoted(index)} is too large: indices have at most 18 digits."
    return f"index {quoted(index)} is beyond n_features: the largest that fits is {largest}."


def position_of_repeated(block: bytearray, row: int) -> int:
    """Return where the second of two equal indices stands in a row of a block that has no other error."""
    start = 0
    for line in block.split(b"\n"):
        words = line.split(b"#", 1)[0].split()
        if words:
            if row == 0:
                break
            row -= 1
        start += len(line) + 1
    seen: set[bytes] = set()
    position = start
    for word in words:
        position = block.index(word, position)
        index, colon, _ = word.partition(b":")
        if colon and index.isdigit():
            number = bytes(index.lstrip(b"0"))
            if number in seen:
                return position
            seen.add(number)
        position += len(word)
    raise AssertionError("no index of the row is repeated")
