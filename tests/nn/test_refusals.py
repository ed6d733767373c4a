"""What functions and modules refuse: PyTorch's type of error and its words, one program a row."""

import warnings

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
    *(f"F.multi_head_attention_forward(*[t.ones(2, 1, 4)] * 3, 4, 2, t.ones(12, 4), t.ones(12), None, None, False, {p}, "
      "t.ones(4, 4), t.zeros(4))" for p in (1.5, 2.0)),
    *(f"t.{name}_indices(3, 3, dtype=t.{d})" for name in ("tril", "triu")
      for d in ("float32", "float16", "bfloat16", "uint8", "int16", "uint32", "bool", "complex64")),
]  # fmt: skip


# Those that say more here: a phrase that both have.
PHRASES = {
    "attn_mask` shape to be (2, 3, 3)": ("nn.MultiheadAttention(4, 2)(*[t.ones(3, 4)] * 3, attn_mask=t.zeros(1, 3, 3))",),
    "uninitialized parameter": ("nn.UninitializedParameter() + 1", "t.empty_like(nn.UninitializedParameter())",
      "t.optim.Adagrad([nn.UninitializedParameter()])", "nn.UninitializedBuffer() * 2"),
    "padding_idx must be within num_embeddings": ("nn.EmbeddingBag(4, 3, padding_idx=4)",),
    "Padding_idx must be within num_embeddings": ("nn.Embedding(4, 3, padding_idx=-5)",),
    "have the same type as": ("F.embedding_bag(t.ones(1, 1, dtype=t.int64), t.ones(3, 2), mode='sum', per_sample_weights=t.ones(1, 1, dtype=t.float64))",),
    "input has to be a 1D or 2D Tensor": [
      f"t.embedding_bag(t.ones(3, 2), t.zeros({shape}, dtype=t.int64), t.tensor([0]))" for shape in ("()", "(1, 1, 1)")],
    **{f"{name} must be of size batch_size": [
      f"F.ctc_loss(t.zeros(3, 2, 4), t.ones(2, 2, dtype=t.int64), **{{'input_lengths': {right}, 'target_lengths': {right}, '{name}': {bad}}})"
      for right, bad in (("[2, 2]", "[2]"), ("t.tensor([2, 2])", "t.tensor([2])"), ("t.tensor([2, 2])", "t.tensor([2, 2, 2])"))] for name in ("input_lengths", "target_lengths")},
    "Expected idx >= 0 && idx < num_embeddings but found idx to be 4": [
      f"F.embedding_bag(t.tensor([[1, 4], [-7, 0]]), t.ones(4, 2, dtype=t.float64), mode={mode!r}, padding_idx={padding})"
      for mode in ("sum", "mean", "max") for padding in (0, 2)],
}  # fmt: skip
PHRASES |= {
    "not implemented for 'Long'": [
      f"F.adaptive_{kind}_pool{n}d(t.ones([1] * {n + 1}, dtype=t.int64), {size})"
      for kind in ("avg", "max") for n in (1, 2, 3) for size in (1, 2) if (kind, size) != ("avg", 1)],
    "could not infer output dtype": [f"F.adaptive_avg_pool2d(t.ones([1] * 3, dtype=t.{d}), 1)" for d in ("int64", "bool")],
    "Expected input to have non-zero size for non-batch dimensions": [
      f"F.adaptive_{name}d(t.ones(2, 0, {'3, ' * int(name[-1])}), 2)" for name in ("avg_pool3", "max_pool1", "max_pool2", "max_pool3")],
    "Expected input": [f"F.fractional_max_pool{n}d(t.ones(1, 0, {'5, ' * n}), 2, 2)" for n in (2, 3)],
}  # fmt: skip
WARNED = {
    "Received a 2-D input to dropout2d": ("F.dropout2d(t.ones(2, 2))",),
    "Received a 6-D input to dropout3d": ("F.dropout3d(t.ones([1] * 6))",),
    "assuming that channel-wise 1D dropout behavior is desired": ("F.dropout2d(t.ones(2, 3, 4))",),
}


def rows(table):
    return [(phrase, program) for phrase, programs in table.items() for program in programs]


def scope(t):
    return {"t": t, "F": t.nn.functional, "nn": t.nn}


@pytest.mark.parametrize(("phrase", "program"), rows(PHRASES))
def test_phrases_of_pytorch(phrase, program):
    mine, theirs = (outcome(eval, program, scope(t)) for t in (torch, pt))
    assert isinstance(mine, type(theirs))
    assert phrase in str(theirs)
    assert phrase in str(mine)


@pytest.mark.parametrize(("phrase", "program"), rows(WARNED))
def test_warnings_of_pytorch(phrase, program):
    for t in (torch, pt):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(program, scope(t))
        assert [phrase in str(each.message) for each in caught] == [True]


@pytest.mark.parametrize("program", PROGRAMS)
def test_words_of_pytorch(program):
    code = compile(program, program, "eval")
    mine, theirs = (outcome(eval, code, {"t": t, "F": t.nn.functional}) for t in (torch, pt))
    assert isinstance(theirs, Exception)
    assert (type(mine).__name__, str(mine)) == (type(theirs).__name__, str(theirs))
