"""Arrays that note what is computed of them: what NumPy computes, or a refusal that says why."""

import numpy as np
import pytest

from mindtorch_cpu.native.reference import evaluated
from mindtorch_cpu.native.showing import shown, traced
from mindtorch_cpu.native.tracing import SIZE, Traced, Tracer, Untraceable


def arrays(dtypes):
    draw = np.random.default_rng(4)
    return [(draw.standard_normal(12) * 3).astype(d) for d in dtypes]


def check(function, *dtypes):
    """What a function's trace computes is what the function does; also of what it writes to."""
    tracer = Tracer()
    operands = [tracer.input(np.dtype(d)) for d in dtypes]
    result = function(*operands)
    assert type(result) is Traced
    graph, inputs, numbers = tracer.finish([result])
    given = arrays(dtypes)
    found = evaluated(graph, [given[i].copy() for i in inputs], numbers)
    expected = function(*(a.copy() for a in given))
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(found[-1], expected)


def written(x, y):
    bits = x.view(np.int32)
    bits[...] = bits & 0x7FFFFFFF
    x[:] = np.multiply(x, y)
    np.copyto(x, x + 1)
    np.add(x, y, out=x)
    return x


TRACED = {
    "the same shape": (lambda x: x.reshape(-1).reshape(x.shape) * 2, "f4"),
    "the same type": (lambda x: x.view().view(np.float32).view(np.ndarray) + 1, "f4"),
    "real parts": (lambda x: x.real - 0.5, "f8"),
    "bits": (lambda x: (x.view(np.int32) ^ 3).view(np.float32), "f4"),
    "writes": (written, "f4", "f4"),
    "choices": (lambda x, y: np.where(x > y, x, 2), "f4", "f4"),
    "bounds": (lambda x: np.clip(x, -1, 1.5), "f8"),
    "numbers of NumPy": (lambda x: x * np.float32(3) + np.float32(3), "f4"),
    "another dtype": (lambda x: x.astype(np.float64) / 3, "f4"),
    "copies": (lambda x: x.copy() + x.astype("f4", copy=False), "f4"),
}


@pytest.mark.parametrize("name", TRACED)
def test_what_is_noted_is_what_numpy_computes(name):
    check(*TRACED[name])


REFUSED = {
    "another shape": lambda t, x: x.reshape(2, -1),
    "a view of elements of another size": lambda t, x: x.view(np.float64),
    "a write to a part": lambda t, x: x.__setitem__(slice(0, 2), 1),
    "a write of many elements to one": lambda t, x: t.input(np.float32, full=False).__setitem__(..., x),
    "an operand with elements of its own": lambda t, x: x + np.ones(SIZE, np.float32),
    "add.reduce": lambda t, x: np.add.reduce(x),
    "add.outer": lambda t, x: np.add.outer(x, x),
    "divmod": lambda t, x: np.divmod(x, 2),
    "a result of another kind": lambda t, x: np.multiply(x, x, out=t.input(np.int32)),
    "a look at an element": lambda t, x: x[0],
    "concatenate": lambda t, x: np.concatenate([x, x]),
    ".cumsum": lambda t, x: x.cumsum(),
    "row_sum of i4": lambda t, x: t.reduced("row_sum", x.astype(np.int32)),
    "row_dot of f4": lambda t, x: t.reduced("row_dot", x, x.astype(np.float64)),
    "sums of i4": lambda t, x: t.folded(x.astype(np.int32)),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_programs_do_not_have_is_refused(words):
    tracer = Tracer()
    with pytest.raises(Untraceable) as caught:
        REFUSED[words](tracer, tracer.input(np.float32))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda x, own: np.add(x, 1, out=own), "a result in an array of its own"),
        (lambda x, own: np.copyto(own, x), "a result in an array of its own"),
        (lambda x, own: np.copyto(x.astype(np.int32), x), "a result of another kind"),
        (lambda x, own: bool(x), "a look at an element"),
        (lambda x, own: own.__setitem__(..., x), "__array_"),
        (lambda x, own: np.ascontiguousarray(x), "__array_"),
    ],
)
def test_what_would_be_written_elsewhere_is_refused(write, words):
    own = np.zeros(SIZE, np.float32)
    with pytest.raises(Untraceable, match=words):
        write(Tracer().input(np.float32), own)
    assert not own.any()


def test_a_number_of_the_tracers():
    tracer = Tracer()
    x, number = tracer.input(np.float32), tracer.number(np.asarray(2.5, np.float32))
    assert number.shape == ()
    graph, _, numbers = tracer.finish([x * number])
    (given,) = arrays(["f4"])
    np.testing.assert_array_equal(evaluated(graph, [given], numbers)[0], given * np.float32(2.5))


def test_what_is_told_of_ops_that_are_no_programs():
    with pytest.raises(Untraceable, match="the backend has no kernel of it"):
        traced("aten::cosine_embedding_loss")
    assert shown("aten::cosine_embedding_loss").endswith(
        "is left to NumPy: the backend has no kernel of it"
    )
    assert "is left to NumPy" in shown("aten::sort")
    assert "mul" in shown("aten::mul.Tensor")
