"""`Tensor._make_wrapper_subclass` against PyTorch: tensors of a class with no elements of their own."""

import copy
import io
import pickle
import sys

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
        t.untyped_storage().nbytes(),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {}, {"strides": (1, 2)}, {"strides": [6, 2]}, {"strides": (0, 0)}, {"strides": (3, 1), "storage_offset": 4},
        {"storage_offset": 4}, {"storage_offset": 0}, {"dtype": "int64"}, {"dtype": "float64", "requires_grad": True},
        {"dtype": "int64", "requires_grad": True}, {"device": "meta"}, {"size": ()}, {"size": [0, 3]}, {"size": (5,)},
        {"size": (4, 0, 2), "strides": (1, 1, 1)}, {"strides": (1,)}, {"strides": ()}, {"size": (-1,)},
        {"size": (2, 3, 4, 5), "memory_format": "channels_last"}, {"strides": (1, 2), "dtype": "complex64"},
        {"size": (0, 3), "strides": (3, 1), "storage_offset": 4}, {"storage_size": 100}, {"size": (0,), "storage_size": 7},
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


def ops_of(lib, call):
    """The ops that a class is asked for, and the class and shape of what comes back."""
    kind, seen = holder_class(lib), []
    answer = kind.__torch_dispatch__.__func__

    def noted(cls, func, types, args=(), kwargs=None):
        seen.append(str(func))
        return answer(cls, func, types, args, kwargs)

    kind.__torch_dispatch__ = classmethod(noted)
    made = call(lib, kind(lib.ones(2, 3), requires_grad=True))
    return seen, type(made).__name__, tuple(made.shape), str(made.dtype), made.requires_grad


@pytest.mark.parametrize(
    "call",
    [
        *(lambda lib, t, n=n: getattr(lib, f"{n}_like")(t) for n in ("zeros", "ones", "empty")),
        lambda lib, t: lib.full_like(t, 2, dtype=lib.float64), lambda lib, t: t.new_full((4,), 2),
        *(lambda lib, t, n=n: getattr(t, f"new_{n}")(4, 1) for n in ("zeros", "ones", "empty")),
        lambda lib, t: t.new_empty_strided((2, 2), (1, 2)), lambda lib, t: lib.zeros_like(t, requires_grad=True),
        lambda lib, t: lib.autograd.grad(t.sum(), t)[0],
    ],
    ids=range(11),
)  # fmt: skip
def test_what_is_made_like_an_instance_is_asked_of_its_class(call):
    assert ops_of(torch, call) == ops_of(pt, call)


@pytest.mark.parametrize(
    "call", [lambda lib, t: lib.rand_like(t), lambda lib, t: lib.autograd.grad(t[0].sum(), t)[0]]
)
def test_random_numbers_and_gradients_of_parts_are_of_the_class_too(call):
    assert ops_of(torch, call)[1:] == ops_of(pt, call)[1:]


# ---- classes with slots, whose objects are laid out otherwise than tensors -----------------------


def slotted(lib):
    def __repr__(self):
        return lib.Tensor.__repr__(self, tensor_contents=f"<{getattr(self, 'note', None)}>")

    return type("Slotted", (lib.Tensor,), {"__slots__": ["note", "other"], "__repr__": __repr__})


def of_each_way(lib):
    """An instance as each function makes it, with what autograd says of it."""
    kind = slotted(lib)
    leaf = lib.Tensor._make_subclass(kind, lib.ones(2), True)
    leaf.note, leaf.free = [1], 4
    (leaf * 3).sum().backward()
    root = lib.zeros(3, requires_grad=True)
    product = root * 1
    view = product[:2].as_subclass(kind)
    product.mul_(2)
    view.sum().backward()
    again = copy.copy(leaf)
    plain = lib.nn.Parameter(lib.ones(2).as_subclass(type("Plain", (lib.Tensor,), {})))
    return [
        repr(leaf), leaf.grad.tolist(), root.grad.tolist(), type(view).__name__, repr(kind([1, 2])),
        again.note, again.free, hasattr(again, "other"), repr(lib.nn.Parameter(leaf)), repr(plain),
    ]  # fmt: skip


def test_instances_of_classes_with_slots():
    assert of_each_way(torch) == of_each_way(pt)


def holder(lib):
    class Holder(lib.Tensor):
        __slots__ = ["held"]

        @staticmethod
        def __new__(cls, held):
            made = lib.Tensor._make_wrapper_subclass(cls, held.size(), dtype=held.dtype)
            made.held = held
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            made = func(*(getattr(a, "held", a) for a in args), **(kwargs or {}))
            return cls(made) if isinstance(made, lib.Tensor) else made

    return Holder


@pytest.mark.parametrize("wrapped", [lambda lib, t: t, lambda lib, t: lib.nn.Parameter(t)])
def test_copies_of_tensors_without_elements(wrapped):
    for lib in (torch, pt):
        first = wrapped(lib, holder(lib)(lib.ones(2)))
        second = copy.deepcopy(first)
        first.held.add_(1)
        assert isinstance(second, type(first)), lib
        assert (second.held.tolist(), first.held.tolist()) == ([1, 1], [2, 2])


def test_slots_are_in_files(tmp_path, monkeypatch):
    for lib in (torch, pt):
        kind = slotted(lib)
        monkeypatch.setitem(globals(), "Slotted", kind)
        made = lib.ones(2).as_subclass(kind)
        made.note, made.free = "a", "b"
        lib.save(made, tmp_path / "file")
        back = lib.load(tmp_path / "file", weights_only=False)
        assert (type(back), back.note, back.free) == (kind, "a", "b")
        back = pickle.loads(pickle.dumps(made))
        assert (type(back), back.note, back.free) == (kind, "a", "b")


def classes(lib):
    """Classes of tensors, by which handlers they define or inherit."""

    class Dispatching:
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Calling:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    plain = type("Plain", (lib.Tensor,), {})
    one = type("One", (Dispatching, lib.Tensor), {})
    both = type("Both", (Calling, one), {})
    return [
        plain, one, type("Derived", (one,), {}), both, type("AfterPlain", (Dispatching, plain), {}),
        type("Calls", (Calling, lib.Tensor), {}), type("AfterBoth", (both,), {"__torch_dispatch__": Dispatching.__torch_dispatch__}),
        type("Own", (lib.nn.Parameter,), {"__torch_dispatch__": Dispatching.__torch_dispatch__}),
    ]  # fmt: skip


def test_classes_that_dispatch_are_not_called_for_functions():
    found = []
    for lib in (torch, pt):
        disabled = lib._C._disabled_torch_function_impl
        found.append([kind.__torch_function__ is disabled for kind in classes(lib)])
    assert found[0] == found[1]
    assert set(found[0]) == {False, True}


@pytest.mark.parametrize("rewraps", [False, True])
def test_what_a_handler_returns_stays_what_it_is(rewraps):
    found = []
    for lib in (torch, pt):

        class Holder(lib.Tensor):
            @staticmethod
            def __new__(cls, t):
                return lib.Tensor._make_wrapper_subclass(cls, t.shape, dtype=t.dtype)

            def __init__(self, t):
                self.kept = t

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                args = [a.kept if isinstance(a, Holder) else a for a in args]
                made = func(*args, **(kwargs or {}))
                return cls(made) if rewraps and isinstance(made, lib.Tensor) else made

        held = Holder(lib.ones(3))
        made = [
            held.detach(),
            held.data,
            held + 1,
            held.clone(),
            lib.sum(held, 0),
            held[1:],
            held.view(3, 1),
        ]
        numbers = [getattr(t, "kept", t).tolist() for t in made]
        try:
            kept = type(lib.nn.Parameter(held)).__name__
        except RuntimeError as error:
            kept = "requires that detach() returns an instance of the same type" in str(error)
        found.append([[type(t).__name__ for t in made], numbers, kept])
    assert found[0] == found[1]
    assert found[0][2] == ("Holder" if rewraps else True)


def kept_in_a_file(lib, name):
    """A class that files can name, whose instances hold a tensor."""

    class Kept(lib.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise AssertionError("saving and loading computes nothing")

    Kept.__qualname__ = Kept.__name__ = name
    setattr(sys.modules[__name__], name, Kept)
    return Kept


@pytest.mark.parametrize("weights_only", [False, True])
def test_files(weights_only):
    """Each reads what the other has written: strides, attributes, what is the same, and shared memory."""
    kept = {lib: kept_in_a_file(lib, "Kept") for lib in (pt, torch)}
    files = {}
    for lib, cls in kept.items():
        sys.modules[__name__].Kept = cls
        inner = lib.arange(6.0).reshape(2, 3).t()
        made = lib.Tensor._make_wrapper_subclass(
            cls, (3, 2), (1, 3), dtype=lib.float32, requires_grad=True
        )
        made.inner, made.tag = inner, "x"
        files[lib] = io.BytesIO()
        lib.save([made, made, inner], files[lib])
    for lib, cls in kept.items():
        sys.modules[__name__].Kept = cls
        for file in files.values():
            file.seek(0)
            with lib.serialization.safe_globals([cls]):
                first, second, inner = lib.load(file, weights_only=weights_only)
            assert type(first) is cls
            assert first is second
            assert (first.tag, first.stride(), first.requires_grad) == ("x", (1, 3), True)
            assert first.inner.tolist() == [[0, 3], [1, 4], [2, 5]]
            assert first.inner.data_ptr() == inner.data_ptr()


def test_a_class_in_a_file_is_trusted_first():
    cls = kept_in_a_file(torch, "Untrusted")
    file = io.BytesIO()
    torch.save(torch.Tensor._make_wrapper_subclass(cls, (2,)), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Untrusted"):
        torch.load(file)
