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
