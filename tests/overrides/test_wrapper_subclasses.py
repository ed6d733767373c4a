"""`Tensor._make_wrapper_subclass` against PyTorch: tensors of a class with no elements of their own."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def wrapper_class(lib):
    class Wrapper(lib.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return lib.ones(len(func.overloadpacket.__name__))

    return Wrapper


def facts(lib, size=(2, 3), **options):
    """What a tensor says of itself, or the error of making it."""
    for name in ("dtype", "memory_format"):
        if name in options:
            options[name] = getattr(lib, options[name])
    try:
        t = lib.Tensor._make_wrapper_subclass(wrapper_class(lib), size, **options)
    except (RuntimeError, TypeError) as error:
        return type(error)
    return [
        tuple(t.shape), t.stride(), t.storage_offset(), str(t.dtype), str(t.device), t.requires_grad, t.is_leaf,
        type(t).__name__, t.is_contiguous(), str(t.layout), t.numel(), t.element_size(), t.dim(), t.mul(t).tolist(),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {}, {"strides": (1, 2)}, {"strides": [6, 2]}, {"strides": (0, 0)}, {"strides": (3, 1), "storage_offset": 4},
        {"storage_offset": 4}, {"storage_offset": 0}, {"dtype": "int64"}, {"dtype": "float64", "requires_grad": True},
        {"dtype": "int64", "requires_grad": True}, {"device": "meta"}, {"size": ()}, {"size": [0, 3]}, {"size": (5,)},
        {"size": (4, 0, 2), "strides": (1, 1, 1)}, {"strides": (1,)}, {"strides": ()}, {"size": (-1,)},
        {"size": (2, 3, 4, 5), "memory_format": "channels_last"}, {"strides": (1, 2), "dtype": "complex64"},
    ],
    ids=str,
)  # fmt: skip
def test_they_are_what_was_said(options):
    assert facts(torch, **options) == facts(pt, **options)


@pytest.mark.parametrize("kind", [lambda lib: lib.Tensor, lambda lib: int, lambda lib: 3])
def test_classes_that_are_refused(kind):
    for lib in (torch, pt):
        with pytest.raises((RuntimeError, TypeError)):
            lib.Tensor._make_wrapper_subclass(kind(lib), (2, 3))


def holder_class(lib):
    class Holder(lib.Tensor):
        @staticmethod
        def __new__(cls, held, requires_grad=False):
            size, strides = held.shape, held.stride()
            made = cls._make_wrapper_subclass(
                cls, size, strides=strides, dtype=held.dtype, requires_grad=requires_grad
            )
            made.held = held
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            results = func(*[getattr(a, "held", a) for a in args], **(kwargs or {}))
            if isinstance(results, lib.Tensor):
                return cls(results)
            return tuple(None if each is None else cls(each) for each in results)

    return Holder


@pytest.mark.parametrize(
    "compute",
    [
        lambda lib, t: t.exp(), lambda lib, t: t.sigmoid().tanh(), lambda lib, t: t.softmax(1).square(),
        lambda lib, t: lib.nn.functional.layer_norm(t, (3,)), lambda lib, t: t.max(1).values,
    ],
)  # fmt: skip
def test_gradients_that_need_the_result(compute):
    found = []
    for lib in (torch, pt):
        holder = holder_class(lib)
        leaf = holder(lib.arange(6.0).reshape(2, 3).sin(), requires_grad=True)
        result = compute(lib, leaf)
        result.backward(holder(lib.arange(float(result.numel())).reshape(result.shape)))
        assert type(result) is type(leaf.grad) is holder
        found.append(leaf.grad.held.tolist())
    torch.testing.assert_close(*map(torch.tensor, found))
