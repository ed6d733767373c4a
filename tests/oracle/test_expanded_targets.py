"""In-place ops on what `expand` made: those that PyTorch lets write it do so here, with its values."""

import contextlib
import random

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
MODES = {
    "as ever": contextlib.nullcontext,
    "inference": torch.inference_mode,
    "pipeline": torch.pipeline,
}
TARGETS = {
    "rows": lambda lib: lib.arange(1.0, 5).expand(3, 4),
    "columns": lambda lib: lib.arange(1.0, 4).unsqueeze(1).expand(3, 4),
    "matrices": lambda lib: lib.arange(1.0, 13).view(3, 4).expand(2, 3, 4),
    "rows of matrices": lambda lib: lib.arange(1.0, 9).view(2, 1, 4).expand(2, 3, 4),
    "all": lambda lib: lib.ones(1).expand(3, 4),
    "turned": lambda lib: lib.arange(1.0, 5).expand(3, 4).t(),
    "whole numbers": lambda lib: lib.arange(1, 5).expand(3, 4),
    "truth values": lambda lib: lib.ones(4, dtype=lib.bool).expand(3, 4),
}
CALLS = {
    **{
        f"{name}({k})": lambda lib, e, name=name, k=k: getattr(e, name)(k)
        for name in ("tril_", "triu_")
        for k in (-1, 0, 1)
    },
    "index_fill_ of slices": lambda lib, e: e.index_fill_(0, lib.tensor([1, -1]), 1),
    "index_fill_ of elements": lambda lib, e: e.index_fill_(-1, lib.tensor(2), lib.tensor(0)),
    "_foreach_zero_": lambda lib, e: lib._foreach_zero_([e]),
    "resize_": lambda lib, e: e.resize_(2, 2),
    "resize_as_": lambda lib, e: e.resize_as_(lib.ones(5, 7)).resize_(
        e.untyped_storage().size() % 3
    ),
    "x[rows] = number": lambda lib, e: e.__setitem__(lib.tensor([0, 1]), 1),
    "x[:, columns] = numbers": lambda lib, e: e.__setitem__(
        (slice(None), lib.tensor([1, 1])), lib.arange(2.0).to(e.dtype).unsqueeze(-1)[..., :1]
    ),
    "_index_put_impl_": lambda lib, e: lib._index_put_impl_(
        e, (lib.tensor([0]),), lib.ones(e.shape[1:], dtype=e.dtype)
    ),
    "add_": lambda lib, e: e.add_(1),
    "dropout_": lambda lib, e: lib.dropout_(e, 0.5, True),
    **{
        f"{name} of {p}, which draws nothing": (
            lambda lib, e, name=name, p=p: getattr(lib, name)(e, p, p == 0)
        )
        for name in ("dropout_", "alpha_dropout_", "feature_dropout_", "feature_alpha_dropout_")
        for p in (0.0, 0.5)
    },
    "masked_scatter_": lambda lib, e: e.masked_scatter_(e > 1, e.clone()),
    "copy_": lambda lib, e: e.copy_(e.clone()),
}


def outcome(lib, target, call):
    """The elements after a call, or how it was refused."""
    e = target(lib)
    memory = e.as_strided((len(e.untyped_storage()) // e.element_size(),), (1,), 0)
    try:
        call(lib, e)
    except (RuntimeError, IndexError) as error:
        return type(error), str(error).partition(":")[0].replace("_cpu", "")
    return memory, tuple(e.shape), e.stride()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call, target, mode):
    wanted = outcome(pt, TARGETS[target], CALLS[call])
    with MODES[mode]():
        found = outcome(torch, TARGETS[target], CALLS[call])
    assert found[1:] == wanted[1:]
    if len(wanted) == 3:
        assert found[0].tolist() == wanted[0].tolist()
    else:
        assert found[0] is wanted[0]


def put(lib, kind, sizes, repeated, indices, values, accumulate):
    """What is in memory when values have been put into what shows its elements several times."""
    once = [1 if again else n for n, again in zip(sizes, repeated, strict=True)]
    memory = lib.arange(np.prod(once)).to(getattr(lib, kind))
    at = tuple(None if i is None else lib.tensor(i) for i in indices)
    lib.ops.aten.index_put_(
        memory.view(once).expand(sizes), at, lib.tensor(values).to(memory.dtype), accumulate
    )
    return memory.to(lib.float64).tolist()


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "bfloat16"])
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("most", [4, 30])
def test_the_last_value_stays_or_all_are_added(most, accumulate, kind):
    """Also where there are too many for NumPy's own way."""
    drawn = random.Random(f"{most} {accumulate} {kind}")
    for _ in range(60 if most < 30 else 15):
        sizes = [drawn.randint(2, most) for _ in range(drawn.randint(1, 3))]
        repeated = [drawn.random() < 0.5 for _ in sizes]
        repeated[drawn.randrange(len(sizes))] = True
        chosen = [drawn.random() < 0.6 for _ in sizes]
        chosen[drawn.randrange(len(sizes))] = True
        count = drawn.randint(1, most)
        indices = [
            np.array([drawn.randrange(-n, n) for _ in range(count)]) if taken else None
            for n, taken in zip(sizes, chosen, strict=True)
        ]
        shape = np.empty(sizes)[tuple(slice(None) if i is None else i for i in indices)].shape
        values = np.arange(np.prod(shape)).reshape(shape) % 3  # halves hold the sums of few
        call = (kind, sizes, repeated, indices, values, accumulate)
        np.testing.assert_allclose(
            put(torch, *call), put(pt, *call), rtol=kind == "bfloat16" and 0.02
        )


def test_many_values_are_added_to_rows_that_are_one():
    def run(lib):
        row = lib.zeros(64)
        at = lib.arange(4096) % 7
        row.expand(7, 64).index_put_((at,), lib.arange(4096.0 * 64).view(4096, 64) % 5, True)
        return row.tolist()

    assert run(torch) == run(pt)
