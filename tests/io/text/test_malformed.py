"""Every line that is wrong is refused, with file, line, column and text."""

import io

import pytest

from hingeline.io import iter_svmlight, load_svmlight

# The line, the column of what is wrong, and what is said of it.
WRONG = [
    (b"x 1:1", 1, "label 'x' is not a finite decimal number"),
    (b"nan 1:1", 1, "label 'nan' is not a finite"),
    (b"1,2 1:1", 1, "label '1,2': several labels per row (multilabel) are not supported"),
    (b"1:1 2:1", 1, "the line begins with '1:1': its label is missing"),
    (b"  +-1 2:1", 3, "label '+-1' is not"),
    (b"1e400 2:1", 1, "'1e400' overflows"),
    (b"1 2", 3, "'2' is not <index>:<value>"),
    (b"1 2: 3:1", 5, "value '' is not a finite decimal number"),
    (b"1 -2:1", 3, "index '-2' is not an integer of 0 or more"),
    (b"1 +2:1", 3, "index '+2' is not"),
    (b"1 a:1", 3, "index 'a' is not"),
    (b"1 :1", 3, "index '' is not"),
    (b"1 1.5:1", 3, "index '1.5' is not"),
    (b"1 2:1 qid:3", 7, "'qid:3': 'qid:' belongs directly after the label"),
    (b"1 qid:x 1:1", 3, "'qid:x' is not 'qid:' and an integer"),
    (b"1 qid:1234567890123456789 1:1", 3, "'qid:1234567890123456789' is not"),
    (b"1 quid:1", 3, "'quid:1' is not"),
    (b"1 1:1 9999999999999999999:1", 7, "index '9999999999999999999' is too large: indices have at most 18 digits"),
    (b"1 18446744073709551618:1", 3, "index '18446744073709551618' is too large"),
    (b"1 1:1 3:1 3:2", 11, "index '3' is repeated in this row"),
    (b"1 3:1 1:1 4:4 3:2 # 3:3", 15, "index '3' is repeated in this row"),
    (b"1 1:abc", 5, "value 'abc' is not"),
    (b"1 1:nan", 5, "value 'nan' is not finite: leave missing values out"),
    (b"1 1:-inf", 5, "value '-inf' is not finite"),
    (b"1 1:1_000", 5, "value '1_000' is not"),
    (b"1 1:0x10", 5, "value '0x10' is not"),
    (b"1 1:1e", 5, "value '1e' is not"),
    (b"1 1:1e+ 2:1", 5, "value '1e+' is not"),
    (b"1 1:.", 5, "value '.' is not"),
    (b"1 1:1:1", 5, "value '1:1' is not"),
    (b"1 1:1e309", 5, "'1e309' overflows the type"),
    (b"1 1:\xff\0", 5, r"value '\xff\x00' is not"),
    (b"1 1:" + b"7x" * 100, 5, "value '" + "7x" * 20 + "'... is not"),
    (b"1 1:1\r-1 2:1", 7, "'-1' is not <index>:<value>"),  # lines that end with CR alone
]


@pytest.mark.parametrize(("line", "column", "reason"), WRONG, ids=[repr(line[:25]) for line, _, _ in WRONG])
def test_line_column_and_text(line, column, reason):
    right = b"1 1:0.5 2:1\n# a comment\n\n-1 2:1\n"
    for text, block_bytes in ((right + line + b"\n" + right, 1 << 20), (right + line, 5)):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 (the whole message is compared)
            list(iter_svmlight(io.BytesIO(text), block_bytes=block_bytes))
        assert str(caught.value).startswith(f"<BytesIO>, line 5, column {column}: {reason}")
        assert len(str(caught.value)) < 250


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_the_first_of_several_is_named(n_threads, tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(b"1 1:1\n" * 5000 + b"1 2:1 1:1 2:1\n1 1:1e400\n1 1:x\n" + b"1 oops\n" * 5000)
    with pytest.raises(ValueError, match=r"data\.svm, line 5001, column 11: index '2' is repeated"):
        list(iter_svmlight(path, block_bytes=500, n_threads=n_threads))
    with pytest.raises(ValueError, match=r"data\.svm, line 5001, column 11: index '2' is repeated"):
        load_svmlight(path, n_threads=n_threads)


def test_float32_overflow():
    largest = b"1 1:3.4028235e38 2:-3.4028235677973362e38\n"  # what is nearer to the largest float32 than to 2^128
    load_svmlight(io.BytesIO(largest), dtype="float32")
    for value in (b"3.4028235677973367e38", b"-1e39", b"1" * 60):
        with pytest.raises(ValueError, match=r"column 5: .* overflows the type it is read into"):
            load_svmlight(io.BytesIO(b"1 1:" + value), dtype="float32")


def test_leading_zeros_make_no_index_large():
    (block,) = iter_svmlight(io.BytesIO(b"1 0000000000000000000000005:1 000006:1\n"))
    assert block.indices.tolist() == [5, 6]


def test_a_generator_left_early_lets_go(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"1 1:1\n" * 100_000)
    for n_threads in (1, 2):
        blocks = iter_svmlight(path, block_bytes=1000, n_threads=n_threads)
        next(blocks)
        blocks.close()
