"""Handlers of ops are shown PyTorch's names, overloads and arguments: programs compare with these."""

import pytest

import mindtorch_core as torch
from mindtorch_core.utils._python_dispatch import TorchDispatchMode

pt = pytest.importorskip("torch")
from torch.utils._python_dispatch import TorchDispatchMode as TheirMode  # noqa: E402

CALLS = """
x.int()
x.to(torch.float64)
x.type(torch.int64)
x.bool() & x.bool()
x[0]
x[:]
x[1:]
x[:, 1:3]
x[..., 0]
x[None]
x[...]
x[()]
x[i]
x[m]
x[m, i]
x[x > 3]
x[None, m]
x.masked_select(x > 3)
x.index_put((m,), y)
x.index_put_((x > 3,), y[0])
x[:, i]
x[i, 1]
x + 1
x * 2
x / 2
x // 2
x % 2
x ** 2
x ** x
x.clone().pow_(2)
x.square()
x == 1
x != 1
x > y
x >= 1
x.int() | 3
x.int() ^ x.int()
x.clone().gt_(1)
x.clone().remainder_(2)
x.sum()
x.sum(0)
x.sum([0, 1], keepdim=True)
x.mean(0)
x.mean()
x.prod(1)
x.prod()
x.all(0)
x.all((0, 1))
x.any((0, 1), True)
x.all()
x.any(1, True)
x.index_put((i,), x[:2])
x.index_put_((i,), x[:2].clone())
x @ z
x @ y
y @ y
x.narrow(0, 0, 2)
x.select(0, 1)
x.unsqueeze(0)
x.view(12)
x.flip(0)
x.clone()
x.clamp(0, 1)
torch.cat([x, x])
torch.where(x > 1, x, x)
torch.mm(x, z)
(x * 0).softmax(1)
(x * 0).log_softmax(dim=-1)
torch.arange(5)
torch.arange(2.0, 5.0)
x.sort()[0]
x.sort(1, True)[0]
x.sort(stable=True)[0]
1 - x
x.aminmax()[0]
x.clone().bernoulli_(1.0)
(torch.manual_seed(0), torch.randn(3))[1]
(torch.manual_seed(0), torch.rand(2, dtype=torch.float64))[1]
(torch.manual_seed(0), torch.randn_like(x))[1]
torch.ops.aten._softmax.default(x * 0, 1, False)
torch.ops.aten._log_softmax.default(x * 0, 1, False)
""".strip().splitlines()
# By its number the device; without it the size that is meant.
LEFT = {"pin_memory", "device"}


def seen(lib, mode, call):
    """What a mode sees of a call: op, shapes and numbers among its arguments, and options."""

    class Log(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            given = {k: str(v) for k, v in (kwargs or {}).items() if k not in LEFT}
            log.append((str(func), [plain(lib, a) for a in args], given))
            return func(*args, **(kwargs or {}))

    log = []
    x, y = lib.arange(12.0).reshape(3, 4), lib.arange(4.0)
    names = {"torch": lib, "x": x, "y": y, "z": x.t().contiguous(), "i": lib.tensor([0, 2])}
    names["m"] = lib.tensor([True, False, True])
    with Log():
        made = eval(call, names)
    return log, made


def plain(lib, value):
    if isinstance(value, lib.Tensor):
        return ["tensor", *value.shape]
    return [plain(lib, v) for v in value] if isinstance(value, list | tuple) else str(value)


@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call):
    (ours, made), (theirs, expected) = (
        seen(lib, mode, call) for lib, mode in ((torch, TorchDispatchMode), (pt, TheirMode))
    )
    # PyTorch gives the ends of slices, of which ours that are defaults are left out.
    without_ends = [
        [(name, args[:2] if name == "aten.slice.Tensor" else args, options) for name, args, options in log]
        for log in (ours, theirs)
    ]  # fmt: skip
    assert without_ends[0] == without_ends[1]
    assert made.tolist() == expected.tolist()


def test_rules_are_found_by_the_shown_op():
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    @torch.ops.aten._to_copy.default.py_impl(Mode)
    def copied(mode, x, **options):
        return "copied", options

    try:
        with Mode():
            assert torch.ones(2).to(torch.int32) == ("copied", {"dtype": torch.int32})
    finally:
        torch.ops.aten._to_copy.default.mode_rules.clear()


def test_what_is_seen_in_backward_and_in_a_class():
    """Through a class that holds its elements as `_data` and matches PyTorch's overloads."""
    found = []
    for lib in (torch, pt):

        class Kept(lib.Tensor):
            @staticmethod
            def __new__(cls, data, note=""):
                made = lib.Tensor._make_wrapper_subclass(cls, data.shape, dtype=data.dtype)
                made._data, made._layout, made.note = data, note, note
                return made

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None, lib=lib):
                aten = lib.ops.aten
                held = [a._data if isinstance(a, cls) else a for a in args]
                made = func(*held, **(kwargs or {}))
                if func in (aten._to_copy.default, aten.index.Tensor, aten.slice.Tensor):
                    return cls(made, args[0].note)
                return made

        kept = Kept(lib.arange(6.0), "mine")
        many = [kept.double(), kept[lib.tensor([1, 2])], kept[:], kept[2:], kept + 1]
        found.append([
            (type(t).__name__, getattr(t, "note", None), str(t.dtype), getattr(t, "_data", t).tolist())
            for t in many
        ])  # fmt: skip
        assert (kept._layout, kept.data_ptr()) == ("mine", 0)
        for refused in (kept.numpy, kept.tolist):
            with pytest.raises(RuntimeError, match="is not supported for tensor subclasses"):
                refused()
        with pytest.raises(RuntimeError, match="data pointer on an invalid python storage"):
            kept.untyped_storage().data_ptr()
    assert found[0] == found[1]


@pytest.mark.parametrize("how", ["sum", "amax"])
def test_products_of_sparse_matrices_that_join_otherwise(how):
    """Classes see the op whole, whichever matrix is theirs, and may call it."""
    found = []
    for lib in (torch, pt):
        log = []

        class Kept(lib.Tensor):
            @staticmethod
            def __new__(cls, data, lib=lib):
                made = lib.Tensor._make_wrapper_subclass(cls, data.shape, dtype=data.dtype)
                made.held = data
                return made

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None, log=log):
                log.append((str(func), *(type(a).__name__ for a in args)))
                return func(*(a.held if isinstance(a, cls) else a for a in args), **(kwargs or {}))

        rows, dense = lib.tensor([[1.0, 2.0], [0.0, 3.0]]).to_sparse_csr(), lib.ones(2, 3)
        many = [(Kept(rows), dense), (Kept(rows), Kept(dense))]
        made = [lib.sparse.mm(*pair, how).tolist() for pair in many]
        found.append((made, log))
    assert found[0] == found[1]


def test_what_programs_print_of_their_classes():
    """`torch._tensor_str` has the parts that programs' own texts are made of."""
    found = []
    for lib, inner in ((torch, torch._C), (pt, pt._C)):
        shown, x = lib._tensor_str, lib.arange(3)
        parts = ["dim_size=3", "a_long_name=" + "x" * 70, "last"]
        found.append([
            shown._add_suffixes("Index(" + shown._tensor_str(x, 6), parts, 6, force_newline=False),
            shown._add_suffixes("Index([]", parts[:1], 6, force_newline=True),
            shown._str_intern(x, tensor_contents="<three>"),
            inner._get_default_device(),
        ])  # fmt: skip
    assert found[0] == found[1]
