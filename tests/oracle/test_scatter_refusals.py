"""What `scatter_reduce` and its in-place form refuse, and what of it leaves the tensor as it was."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_same_outcome

pt = pytest.importorskip("torch")

# Arguments in the library `l`, for x (3, 3), index i (2, 3) and source s (2, 3). PyTorch's type counts.
ARGUMENTS = """
0, i, s, "foo"
0, i, s, ""
0, i, s, "max"
0, i, s, "add"
0, i, s, "multiply"
0, i, s, None
0, i, s, 1
0, i, s
0, i, 1.0, "sum"
0, i, "s", "sum"
0, i.int(), s, "sum"
0, i.float(), s, "sum"
0, i.bool(), s, "sum"
0, i.to(l.uint8), s, "sum"
0, i, s.double(), "sum"
0, i, s.long(), "amax"
0, i, s.to(l.complex64), "sum"
2, i, s, "sum"
-3, i, s, "sum"
0.5, i, s, "sum"
None, i, s, "sum"
0, i[0], s, "sum"
0, i[None], s, "sum"
0, i, s[None], "sum"
0, l.zeros(4, 5, dtype=l.int64), s, "sum"
0, l.zeros(2, 5, dtype=l.int64), l.ones(2, 5), "sum"
0, l.zeros(3, 3, dtype=l.int64), s, "prod"
1, l.zeros(4, 2, dtype=l.int64), l.ones(4, 2), "mean"
0, i + 3, s, "sum"
0, i + 9, s, "prod"
0, i - 1, s, "amax"
0, i - 9, s, "amin"
1, i + 9, s, "mean"
0, l.zeros(0, dtype=l.int64), s, "sum"
0, i[:0], s, "foo"
0, i[:0], s, "sum"
""".strip().splitlines()
ACCEPTED = [
    f"{dim}, i, s, {reduce!r}, include_self={include}"
    for dim in (0, 1, -1)
    for reduce in ("sum", "prod", "mean", "amax", "amin")
    for include in (True, False)
]


def scope(lib, dtype):
    d = getattr(lib, dtype)
    x = lib.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=d)
    return {
        "l": lib, "x": x, "i": lib.tensor([[0, 1, 2], [0, 0, 1]]),
        "s": lib.tensor([[1, 2, 3], [4, 0, 6]], dtype=d),
    }  # fmt: skip


def call(lib, arguments, name, dtype="float32"):
    """The result; the tensor afterwards is part of it where it was written to."""
    names = scope(lib, dtype)
    before = names["x"].clone()
    try:
        made = eval(f"x.{name}({arguments})", names)
    except Exception:
        assert names["x"].tolist() == before.tolist(), "a refused call has written"
        raise
    return made


@pytest.mark.parametrize("name", ["scatter_reduce", "scatter_reduce_"])
@pytest.mark.parametrize("arguments", [*ARGUMENTS, *ACCEPTED])
def test_calls(arguments, name):
    assert_same_outcome(
        lambda: call(torch, arguments, name), lambda: call(pt, arguments, name), equal_nan=True
    )


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin", "max"])
def test_dtypes(reduce, dtype):
    arguments = f'0, i, s, "{reduce}"'
    assert_same_outcome(
        lambda: call(torch, arguments, "scatter_reduce_", dtype),
        lambda: call(pt, arguments, "scatter_reduce_", dtype),
        rtol=1e-3, atol=1e-3,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    ['0, i, s, "foo"', '0, i.float(), s, "sum"', '0, i, s.double(), "sum"', '2, i, s, "sum"',
     '0, i[0], s, "sum"', '0, i + 9, s, "sum"', '0, i - 9, s, "amax"'],
)  # fmt: skip
def test_texts(arguments):
    texts = []
    for lib in (torch, pt):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            call(lib, arguments, "scatter_reduce_")
        told = str(caught.value).splitlines()[0]
        # Ours names the op and what it got; which of several bad indices is named is not said.
        told = re.sub(r"^scatter(_reduce)?\(\): |, got \w+\.?$|\.$", "", told)
        texts.append(re.sub(r"^index (-?)\d+", r"index \1N", told))
    assert texts[0] == texts[1]


def test_leaves_and_overlapping_memory():
    for write in (
        lambda lib: lib.ones(3, requires_grad=True).scatter_reduce_(
            0, lib.tensor([0]), lib.ones(1), "sum"
        ),
        lambda lib: lib.ones(1).expand(3).scatter_reduce_(0, lib.tensor([0]), lib.ones(1), "sum"),
    ):
        texts = []
        for lib in (torch, pt):
            with pytest.raises(RuntimeError) as caught:
                write(lib)
            texts.append(str(caught.value)[:40])
        assert texts[0] == texts[1]


def test_a_refusal_on_a_device_without_values():
    for arguments in ('0, i, s, "foo"', '0, i, s.double(), "sum"', '0, i[0], s, "sum"'):
        names = {k: v.to("meta") if k != "l" else v for k, v in scope(torch, "float32").items()}
        with pytest.raises(RuntimeError):
            eval(f"x.scatter_reduce_({arguments})", names)
