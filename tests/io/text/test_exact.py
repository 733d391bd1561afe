"""Numbers are read to the last bit as Python reads them, and written so that they read back the same."""

import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hingeline.io import dump_svmlight, load_svmlight
from hingeline.io.text.decimal import MOST_DIGITS, nearest_double, plain_nearest_double

DIGITS = st.text("0123456789", max_size=25)
DECIMALS = st.builds(
    lambda sign, whole, point, fraction, power: f"{sign}{whole}{point}{fraction}{power}",
    st.sampled_from(["", "-", "+"]),
    DIGITS,
    st.sampled_from(["", "."]),
    DIGITS,
    st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-345, 310))),
).filter(lambda text: text[-1:].isdigit() and text.strip("+-.")[:1].isdigit() and text.lstrip("+-.")[:1] != "e")
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
HALFWAY = st.builds(  # between two doubles, or a little beside it
    lambda mantissa, shift, beside: str((2 * (2**52 + mantissa) + 1 << shift) + beside),
    st.integers(0, 2**52 - 1),
    st.integers(0, 12),
    st.integers(-1, 1),
)


def values_of(texts, dtype=np.float64):
    line = b"1 " + b" ".join(b"%d:%s" % (k, text.encode()) for k, text in enumerate(texts, 1)) + b"\n"
    X, _ = load_svmlight(io.BytesIO(line), dtype=dtype, n_threads=1)
    return X.data


def bits(values):
    return np.asarray(values).tobytes()


@settings(max_examples=300)
@given(st.lists(st.one_of(DECIMALS, DOUBLES.map(repr), HALFWAY), min_size=1, max_size=20))
@example(["9007199254740993", "9007199254740993.0000000000000000001", "1e-400", "5e-324", "2.2250738585072011e-308"])
@example(["0.000000000000000000000000000000000000000000000001", "00000000000000000000000001", "-0", "0e999999999999"])
@example(["1e22", "1e23", "8.5e22", "123456789012345678", "1.7976931348623157e308", "6929495644600919.5", "4.35"])
def test_values_are_those_of_float(texts):
    texts = [text for text in texts if abs(float(text)) < np.inf]
    expected = np.array([float(text) for text in texts])
    assert bits(values_of(texts)) == bits(expected)
    with np.errstate(over="ignore"):
        narrow = expected.astype(np.float32)
    kept = np.isfinite(narrow)
    assert bits(values_of(np.array(texts)[kept], np.float32)) == bits(narrow[kept])


@settings(max_examples=200)
@given(st.one_of(DECIMALS, DOUBLES.map(repr)).filter(lambda text: abs(float(text)) < np.inf))
def test_labels_are_those_of_float(text):
    _, y = load_svmlight(io.BytesIO(text.encode()), n_threads=1)
    assert bits(y) == bits([float(text)])


@settings(max_examples=1000)
@given(st.integers(0, 10**MOST_DIGITS - 1).filter(lambda m: m < 2**64), st.integers(-360, 330))
def test_nearest_double(mantissa, exponent):
    value, decided = nearest_double(np.uint64(mantissa), exponent)
    expected = float(f"{mantissa}e{exponent}")
    assert not decided or bits(value) == bits(expected)
    # Python need not be asked for what is common.
    assert decided or not 1e-307 < expected < 1e308
    plain, plainly_decided = plain_nearest_double(np.uint64(mantissa), exponent)
    assert not plainly_decided or bits(plain) == bits(expected)


def test_python_is_asked_again_and_again():
    """More hard numbers in a block than are kept at a time, labels among them."""
    hard = "1.2345678901234567890123456789"
    text = "".join(f"{hard}e{k % 9} 1:-{hard}e{k % 7} 2:{k}\n" for k in range(2000))
    X, y = load_svmlight(io.BytesIO(text.encode()))
    np.testing.assert_array_equal(y, [float(f"{hard}e{k % 9}") for k in range(2000)])
    np.testing.assert_array_equal(X.data[::2], [-float(f"{hard}e{k % 7}") for k in range(2000)])


@settings(max_examples=200)
@given(
    st.lists(
        st.one_of(DOUBLES, st.floats(-1e3, 1e3).map(lambda x: round(x, 4)), st.integers(-9, 9).map(float)), max_size=20
    ),
    st.sampled_from([np.float64, np.float32]),
    DOUBLES,
    st.booleans(),
)
@example([5e-324, 1e22, 0.1, 123456789012345680.0, -0.0, 2.0**53, 1 / 3, 1e-7], np.float64, -0.0, True)
def test_round_trip(values, dtype, label, zero_based):
    with np.errstate(over="ignore"):
        row = np.array([values], dtype=dtype)
    row[~np.isfinite(row)] = 1.5
    file = io.BytesIO()
    dump_svmlight(row, [label], file, zero_based=zero_based)
    X, y = load_svmlight(
        io.BytesIO(file.getvalue()), dtype=dtype, zero_based=zero_based, n_features=row.shape[1] or None, n_threads=1
    )
    assert bits(X.data) == bits(row[row != 0])
    assert bits(y) == bits([label])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_bits_round_trip(dtype):
    rng = np.random.default_rng(0)
    kind = np.uint32 if dtype == np.float32 else np.uint64
    values = rng.integers(0, np.iinfo(kind).max, size=(50, 40), dtype=kind, endpoint=True).view(dtype)
    values[~np.isfinite(values) | (values == 0)] = 0.25
    file = io.BytesIO()
    dump_svmlight(values, np.zeros(50), file)
    assert bits(load_svmlight(io.BytesIO(file.getvalue()), dtype=dtype)[0].data) == bits(values)


def test_text_is_the_shortest():
    file = io.BytesIO()
    dump_svmlight(np.array([[0.1, 1.0, -2.5, 1 / 3, 1e300, 0.150752]]), [3], file)
    assert file.getvalue() == b"3 1:0.1 2:1 3:-2.5 4:0.3333333333333333 5:1e+300 6:0.150752\n"
    file = io.BytesIO()
    dump_svmlight(np.array([[0.1, 1 / 3]], dtype=np.float32), [-1], file)
    assert file.getvalue() == b"-1 1:0.1 2:0.33333334\n"
