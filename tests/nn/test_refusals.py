"""What functions and modules refuse: PyTorch's type of error and its words, one program a row."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

LONG = "dtype=t.int64"
POOLED = "F.max_unpool{n}d(t.ones({ones}), {indices}, 2{more})"
PROGRAMS = [
    *(POOLED.format(n=n, ones=f"1, 1{', 2' * n}", indices=f"t.full((1, 1{', 2' * n}), {bad})", more="")
      for n in (1, 2, 3) for bad in (-1, 64, 99)),
    POOLED.format(n=2, ones="1, 2, 2", indices="t.full((1, 2, 2), 16)", more=""),
    *(POOLED.format(n=2, ones="1, 1, 2, 2", indices=f"t.ones(1, 1, 2, 2, dtype=t.{d})", more="")
      for d in ("float32", "int32", "bool")),
    *(POOLED.format(n=2, ones="1, 1, 2, 2", indices=f"t.ones(1, 1, 2, 2, {LONG})", more=f", output_size={size}")
      for size in ((9, 4), [4, 2], (4, 6), (4,), (1, 1, 9, 9))),
    *(f"t.{name}_indices(3, 3, dtype=t.{d})" for name in ("tril", "triu")
      for d in ("float32", "float16", "bfloat16", "uint8", "int16", "uint32", "bool", "complex64")),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_words_of_pytorch(program):
    code = compile(program, program, "eval")
    mine, theirs = (outcome(eval, code, {"t": t, "F": t.nn.functional}) for t in (torch, pt))
    assert isinstance(theirs, Exception)
    assert (type(mine).__name__, str(mine)) == (type(theirs).__name__, str(theirs))
