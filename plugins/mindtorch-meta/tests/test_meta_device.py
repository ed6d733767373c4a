"""The meta device knows shapes, dtypes and strides, costs nothing and has no data.

These tests need neither NumPy nor another backend.
"""

import subprocess
import sys
import tracemalloc

import pytest

import mindtorch_core as torch

HUGE = (1_000_000, 1_000_000)


def meta(*shape, dtype=torch.float32, **options):
    return torch.empty(shape, dtype=dtype, device="meta", **options)


# ---- shapes and dtypes --------------------------------------------------------------------------

RESULTS = {
    "add": (lambda: meta(2, 1, 3) + meta(4, 1), (2, 4, 3), torch.float32),
    "promotion": (lambda: meta(3, dtype=torch.int64) * meta(3), (3,), torch.float32),
    "number": (lambda: meta(3, dtype=torch.int32) + 1.5, (3,), torch.float32),
    "division": (lambda: meta(3, dtype=torch.int64) / 2, (3,), torch.float32),
    "comparison": (lambda: meta(2, 3) < meta(3), (2, 3), torch.bool),
    "sum of ints": (lambda: meta(2, 3, dtype=torch.int8).sum(), (), torch.int64),
    "mean": (lambda: meta(2, 3, 4).mean((0, 2), keepdim=True), (1, 3, 1), torch.float32),
    "matmul": (lambda: meta(5, 2, 3) @ meta(3, 4), (5, 2, 4), torch.float32),
    "cat": (lambda: torch.cat([meta(2, 3), meta(4, 3)]), (6, 3), torch.float32),
    "index": (lambda: meta(5, 3)[meta(2, 4, dtype=torch.int64)], (2, 4, 3), torch.float32),
    "argmax": (lambda: meta(5, 3).argmax(1), (5,), torch.int64),
    "conversion": (lambda: meta(5).to(torch.float64), (5,), torch.float64),
    "view": (lambda: meta(4, 6).view(2, -1, 3), (2, 4, 3), torch.float32),
    "slice": (lambda: meta(10, 3)[1:8:2], (4, 3), torch.float32),
    "embedding": (
        lambda: torch.nn.functional.embedding(meta(4, dtype=torch.int64), meta(10, 5)),
        (4, 5),
        torch.float32,
    ),
    "embedding with a norm": (
        lambda: torch.nn.functional.embedding(
            meta(4, dtype=torch.int64), meta(10, 5), max_norm=1.0
        ),
        (4, 5),
        torch.float32,
    ),
    **{
        f"embedding bag, {mode}": (
            lambda mode=mode: torch.nn.functional.embedding_bag(
                meta(2, 3, dtype=torch.int64), meta(10, 5), mode=mode, padding_idx=0
            ),
            (2, 5),
            torch.float32,
        )
        for mode in ("sum", "mean", "max")
    },
    "one hot": (
        lambda: torch.nn.functional.one_hot(meta(4, dtype=torch.int64), 3),
        (4, 3),
        torch.int64,
    ),
    "index reduce": (
        lambda: meta(5, 3).index_reduce(0, meta(2, dtype=torch.int64), meta(2, 3), "amax"),
        (5, 3),
        torch.float32,
    ),
    "ctc loss": (
        lambda: torch.nn.functional.ctc_loss(
            meta(6, 2, 4), meta(2, 3, dtype=torch.int64), (6, 5), (3, 2)
        ),
        (),
        torch.float32,
    ),
    "cross entropy": (
        lambda: torch.nn.functional.cross_entropy(meta(8, 10), meta(8, dtype=torch.int64)),
        (),
        torch.float32,
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_shape_and_dtype(name):
    make, shape, dtype = RESULTS[name]
    result = make()
    assert (result.shape, result.dtype) == (shape, dtype)
    assert result.is_meta
    assert result.device == torch.device("meta")


def test_what_the_values_would_say_is_refused():
    lengths = meta(2, dtype=torch.int64)
    with pytest.raises(NotImplementedError, match="no data"):
        torch.nn.functional.ctc_loss(meta(6, 2, 4), meta(2, 3, dtype=torch.int64), lengths, lengths)
    with pytest.raises(RuntimeError, match="no elements"):
        torch.nn.functional.one_hot(meta(4, dtype=torch.int64))


@pytest.mark.parametrize("name", ["abs_", "absolute_"])
def test_absolute_values_do_not_fit_into_complex_memory(name):
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
        getattr(meta(3, dtype=torch.complex64), name)()


def test_strides_are_those_of_real_tensors():
    t = meta(2, 3, 4)
    assert t.stride() == (12, 4, 1)
    assert t.permute(2, 0, 1).stride() == (1, 12, 4)
    assert (t.transpose(0, 2) + 1).stride() == (1, 4, 12)
    assert t.expand(5, 2, 3, 4).stride() == (0, 12, 4, 1)
    assert t[:, 1].storage_offset() == 4
    assert not t.transpose(0, 1).is_contiguous()
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        t.transpose(0, 2).view(-1)


ERRORS = {
    "broadcast": (lambda: meta(2) + meta(3), RuntimeError, "size of tensor a"),
    "matmul": (lambda: meta(2, 3) @ meta(2, 3), RuntimeError, "cannot be multiplied"),
    "reshape": (lambda: meta(6).view(4, -1), RuntimeError, "invalid for input of size 6"),
    "dimension": (lambda: meta(2).sum(1), IndexError, "Dimension out of range"),
    "dtype": (lambda: meta(2, dtype=torch.int64).mean(), RuntimeError, "output dtype"),
    "in place": (lambda: meta(2).add_(meta(3, 2)), RuntimeError, "doesn't match the broadcast"),
    "cast": (lambda: meta(2, dtype=torch.int64).add_(1.5), RuntimeError, "can't be cast"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_shapes_and_dtypes_are_refused(name):
    call, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        call()


def test_in_place_ops_return_the_tensor_and_count_versions():
    t = meta(3)
    version = t._version
    assert t.add_(1) is t
    assert t._version > version
    t[0] = 5
    assert t.shape == (3,)


# ---- no data ------------------------------------------------------------------------------------

READERS = {
    "item": (lambda t: t.sum().item(), RuntimeError, r"item\(\) cannot be called on meta"),
    "bool": (lambda t: bool(t.sum()), RuntimeError, r"item\(\) cannot be called on meta"),
    "float": (lambda t: float(t.sum()), RuntimeError, r"item\(\) cannot be called on meta"),
    "tolist": (
        lambda t: t.tolist(),
        NotImplementedError,
        "Cannot copy out of meta tensor; no data!",
    ),
    "nonzero": (lambda t: t.nonzero(), NotImplementedError, "aten::nonzero: the result depends on"),
    "mask": (lambda t: t[t > 0], NotImplementedError, "aten::nonzero: the result depends on"),
    "equal": (
        lambda t: torch.equal(t, t),
        NotImplementedError,
        "aten::equal: the result depends on",
    ),
    "allclose": (
        lambda t: torch.allclose(t, t),
        RuntimeError,
        r"item\(\) cannot be called on meta",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_data_cannot_be_read(name):
    read, kind, text = READERS[name]
    with pytest.raises(kind, match=text):
        read(meta(3))


def test_meta_tensors_are_printed_without_data():
    text = repr(meta(2, 3))
    assert "device='meta'" in text
    assert "size=(2, 3)" in text


# ---- cost ---------------------------------------------------------------------------------------


def test_size_costs_no_memory():
    tracemalloc.start()
    t = meta(*HUGE)
    for _ in range(10):
        t = (t @ t).relu() + torch.ones(HUGE, device="meta")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert t.shape == HUGE
    assert t.nbytes == 4 * 10**12
    assert peak < 1_000_000


# ---- autograd -----------------------------------------------------------------------------------


def test_gradients_have_the_shapes_of_their_tensors():
    x = meta(64, 32)
    weight = meta(10, 32, requires_grad=True)
    bias = meta(10, requires_grad=True)
    scale = meta(1, requires_grad=True)
    loss = ((torch.nn.functional.linear(x, weight, bias) * scale).relu() ** 2).mean()
    assert loss.requires_grad
    loss.backward()
    for t in (weight, bias, scale):
        assert (t.grad.shape, t.grad.dtype) == (t.shape, t.dtype)
        assert t.grad.is_meta
    assert x.grad is None


def test_gradients_of_gradients():
    x = meta(3, 4, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.shape == (3, 4)
    assert second.dtype is torch.float64


def test_a_training_step():
    weight = meta(10, 4, requires_grad=True)
    for _ in range(3):
        weight.grad = None
        logits = meta(8, 4) @ weight.t()
        torch.nn.functional.cross_entropy(logits, meta(8, dtype=torch.int64)).backward()
        with torch.no_grad():
            weight.sub_(weight.grad, alpha=0.1)
    assert weight.grad.shape == (10, 4)


# ---- pipelines ----------------------------------------------------------------------------------


def test_nothing_is_pending_in_a_pipeline():
    with torch.pipeline() as pipe:
        t = (meta(4) + 1).relu().sum()
        assert not t._pending
        assert t.shape == ()
        assert pipe.stats()["recorded"] == 0


# ---- alone --------------------------------------------------------------------------------------


def test_it_imports_nothing_but_the_core():
    script = """
import sys
import mindtorch_core as torch
t = torch.ones(3, device="meta", requires_grad=True)
(t * 2).sum().backward()
assert t.grad.shape == (3,)
others = {"numpy", "scipy", "ml_dtypes", "mindtorch_cpu", "mindtorch_core.testing"}
assert not others & set(sys.modules), others & set(sys.modules)
import mindtorch_core.testing
assert "pytest" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)
