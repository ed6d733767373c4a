"""torch.save of any object, torch.load(weights_only=False), and what is declared safe."""

import collections
import dataclasses
import datetime
import enum
import functools
import io
import operator
import pathlib
import pickle
import re
import types
import zipfile

import pytest

import mindtorch_core as torch

np = pytest.importorskip("numpy")

Pair = collections.namedtuple("Pair", "a b")


class Plain:
    def __init__(self, **values):
        self.__dict__.update(values)

    def __eq__(self, other):
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None

    class Inner:
        def __eq__(self, other):
            return type(other) is type(self)

        def __hash__(self):
            return 7


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return type(other) is Slotted and self.a == other.a

    __hash__ = None


@dataclasses.dataclass(slots=True, frozen=True)
class Frozen:
    a: int
    b: str = "x"


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Stack(list):
    pass


class Table(dict):
    pass


class WithState:
    def __getstate__(self):
        return {"kept": self.value}

    def __setstate__(self, state):
        self.value = state["kept"] + 1

    def __eq__(self, other):  # the state that comes back has been through __setstate__
        return type(other) is WithState and abs(self.value - other.value) == 1

    __hash__ = None


class Keyword:
    def __new__(cls, *, a):
        made = super().__new__(cls)
        made.a = a
        return made

    def __getnewargs_ex__(self):
        return (), {"a": self.a}

    def __eq__(self, other):
        return type(other) is Keyword and self.a == other.a

    __hash__ = None


def set_all(obj, state):
    obj.values = state


class Setter:
    def __reduce__(self):
        return Setter, (), self.values, None, None, set_all

    def __eq__(self, other):
        return self.values == other.values

    __hash__ = None


def with_state():
    made = WithState()
    made.value = 3
    return made


def with_setter():
    made = Setter()
    made.values = [1, 2]
    return made


OBJECTS = {
    "plain": Plain(a=1, b=[2], c=Plain(d="x")),
    "nested class": [Plain.Inner(), Plain.Inner],
    "slots": Slotted([1]),
    "dataclass": Frozen(1),
    "enums": [Colour.RED, Level.LOW, re.IGNORECASE],
    "named tuple": Pair(1, [2]),
    "subclasses": [Stack([1, 2]), Table(a=1), collections.defaultdict(list, a=[1])],
    "state": with_state(),
    "keywords": Keyword(a=5),
    "setter": with_setter(),
    "functions": [len, set_all, operator.itemgetter(1).__class__, str.upper, "a b".split],
    "partial": functools.partial(int, base=2).args,
    "constants": [..., NotImplemented, type(None), type(...), int, list],
    "library": [
        datetime.date(2020, 1, 2),
        pathlib.PurePosixPath("a/b"),
        collections.deque([1, 2], 5),
        range(3),
        slice(1, 2),
    ],
    "numbers": [np.float64(1.5), np.float32(2.5), np.int64(3), np.bool_(True), np.complex64(1j)],
    "keys": {Plain.Inner(): 1, (1, Colour.RED): 2, Level.LOW: 3},
    "sets": [{Colour.RED}, frozenset([Frozen(1)])],
    "dtype": np.dtype("float32"),
    "exception": [ValueError("a").args, ValueError],
}


def saved(obj, lib=torch, **options):
    file = io.BytesIO()
    lib.save(obj, file, **options)
    file.seek(0)
    return file


def again(obj, **options):
    return torch.load(saved(obj), weights_only=False, **options)


@pytest.mark.parametrize("obj", [o for n, o in OBJECTS.items() if n != "functions"])
def test_comes_back(obj):
    loaded = again(obj)
    assert loaded == obj
    assert repr(list(map(type, loaded)) if isinstance(obj, list) else type(loaded)) == repr(
        list(map(type, obj)) if isinstance(obj, list) else type(obj)
    )


def test_functions_come_back_by_name():
    loaded = again(OBJECTS["functions"])
    assert loaded[:4] == OBJECTS["functions"][:4]
    assert loaded[4]() == ["a", "b"]


@pytest.mark.parametrize("obj", [o for n, o in OBJECTS.items() if n != "functions"])
def test_files_go_both_ways(obj):
    pt = pytest.importorskip("torch")
    assert pt.load(saved(obj), weights_only=False) == obj
    for protocol in (2, 3, 4, 5):
        assert torch.load(saved(obj, pt, pickle_protocol=protocol), weights_only=False) == obj


def test_objects_that_hold_themselves():
    ring = Plain()
    ring.me, ring.list = ring, [ring]
    loaded = again([ring, ring])
    assert loaded[0] is loaded[1] is loaded[0].me is loaded[0].list[0]


def test_arrays():
    arrays = [np.arange(6.0).reshape(2, 3), np.array(["a", "b"]), np.ones((2, 2), "F"), np.zeros(0)]
    for made, array in zip(again(arrays), arrays, strict=True):
        assert made.dtype == array.dtype
        assert made.tolist() == array.tolist()
    pt = pytest.importorskip("torch")
    for made, array in zip(pt.load(saved(arrays), weights_only=False), arrays, strict=True):
        assert made.tolist() == array.tolist()
    theirs = torch.load(saved(arrays, pt), weights_only=False)
    assert [made.tolist() for made in theirs] == [array.tolist() for array in arrays]


def test_tensors_inside_objects_share_memory():
    base = torch.arange(4.0)
    loaded = again(Plain(whole=base, part=base[1:], grad=base.clone().requires_grad_()))
    loaded.whole[1] = 9
    assert loaded.part[0].item() == 9
    assert loaded.grad.requires_grad


class Moving:
    """What moves a tensor's memory while it is saved, and saves others that may lie where it lay."""

    def __init__(self, x):
        self.x = x

    def __reduce__(self):
        self.x.share_memory_()
        self.others = [torch.full((100,), float(i)) for i in range(5)]
        return list, (self.others,)


def test_memory_that_is_moved_while_it_is_saved_is_not_taken_for_others():
    for _ in range(4):
        x = torch.arange(100.0)
        made, others = again((x, Moving(x)))
        assert made.sum().item() == 4950
        assert [t.sum().item() for t in others] == [0, 100, 200, 300, 400]


class Tagged(torch.Tensor):
    pass


def test_subclasses_of_tensors():
    made = torch.ones(2).as_subclass(Tagged)
    made.tag = {"a": 1}
    loaded = again([made, made.tag])
    assert type(loaded[0]) is Tagged
    assert loaded[0].tolist() == [1, 1]
    assert loaded[0].tag is loaded[1]
    with pytest.raises(pickle.UnpicklingError, match="Tagged"):
        torch.load(saved(made))
    with torch.serialization.safe_globals([Tagged]):
        assert type(torch.load(saved(made))) is Tagged


def test_hooks_are_not_saved():
    t = torch.ones(2, requires_grad=True)
    t.register_hook(torch.utils.hooks.unserializable_hook(lambda g: g))
    assert again(t)._backward_hooks is None
    t.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized"):
        saved(t)


# ---- what is safe -------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def nothing_is_marked():
    torch.serialization.clear_safe_globals()
    yield
    torch.serialization.clear_safe_globals()


def test_what_is_refused_is_named():
    name = re.escape(f"{__name__}.Plain")
    with pytest.raises(pickle.UnpicklingError, match=rf"add_safe_globals\(\[{name}\]\)"):
        torch.load(saved(Plain(a=1)))
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(saved(np.ones(2)))


@pytest.mark.parametrize(
    ("obj", "allowed"),
    [
        (Plain(a=1, b=torch.ones(2).tolist()), [Plain]),
        (Slotted(2), [Slotted]),
        (Keyword(a=5), [Keyword]),
        ([Colour.RED], [Colour]),
        (Pair(1, 2), [Pair]),
        (Stack([1, 2]), [Stack]),
        (Table(a=1), [Table]),
        (collections.deque([1]), [collections.deque]),
        (
            np.float64(1.5),
            [np._core.multiarray.scalar, np.dtype, type(np.dtype("float64"))],
        ),
        (
            np.arange(3).tolist() and np.int64(3),
            [(np._core.multiarray.scalar, "numpy._core.multiarray.scalar"), np.dtype,
             type(np.dtype("int64"))],
        ),
    ],
)  # fmt: skip
def test_what_is_declared_safe_is_loaded(obj, allowed):
    file = saved(obj)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file)
    file.seek(0)
    with torch.serialization.safe_globals(allowed):
        assert set(torch.serialization.get_safe_globals()) == set(allowed)
        assert torch.load(file) == obj
    assert torch.serialization.get_safe_globals() == []
    pt = pytest.importorskip("torch")
    if type(obj) not in (
        Keyword,
        Stack,
        Table,
        collections.deque,
    ):  # their opcodes PyTorch does not take
        file.seek(0)
        with pt.serialization.safe_globals(allowed):
            assert pt.load(file) == obj


def test_safe_globals_add_up():
    torch.serialization.add_safe_globals([Plain])
    torch.serialization.add_safe_globals([Slotted])
    assert torch.load(saved([Plain(a=Slotted(1))]))[0].a.a == 1
    torch.serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        torch.load(saved(Slotted(1)))


def test_a_module_that_is_declared_safe():
    pytest.importorskip("mindtorch_nn")
    kinds = [torch.nn.Sequential, torch.nn.Linear, torch.nn.ReLU, set]
    file = saved(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
    with torch.serialization.safe_globals(kinds):
        assert torch.load(file)[0].weight.shape == (2, 2)
    assert torch.serialization.get_unsafe_globals_in_checkpoint(file) == [
        "torch.nn.modules.activation.ReLU",
        "torch.nn.modules.container.Sequential",
        "torch.nn.modules.linear.Linear",
    ]


def test_some_modules_are_never_safe():
    import os

    file = saved({"x": os.getcwd})
    with (
        torch.serialization.safe_globals([(os.getcwd, "posix.getcwd"), (os.getcwd, "nt.getcwd")]),
        pytest.raises(pickle.UnpicklingError, match="blocked"),
    ):
        torch.load(file)


def test_errors_of_what_is_safe_are_its_own():
    class Failing:
        def __setstate__(self, state):
            raise KeyError("mine")

    made = Plain(a=1)
    with (
        torch.serialization.safe_globals([(Failing, f"{__name__}.Plain")]),
        pytest.raises(KeyError, match="mine"),
    ):
        torch.load(saved(made))


def test_wrong_safe_globals():
    with (
        torch.serialization.safe_globals([(Plain, "a", "b")]),
        pytest.raises(ValueError, match="tuple of length 2"),
    ):
        torch.load(saved(1))
    with (
        torch.serialization.safe_globals([(Plain, 3)]),
        pytest.raises(TypeError, match="to be str"),
    ):
        torch.load(saved(1))


@pytest.mark.parametrize("protocol", [2, 4])
def test_unsafe_globals_are_those_that_pytorch_finds(protocol):
    pt = pytest.importorskip("torch")
    obj = [Plain(a=1), np.ones(2), {1, 2}, pt.ones(1), Colour.RED, collections.OrderedDict(a=1)]
    file = saved(obj, pt, pickle_protocol=protocol)
    found = torch.serialization.get_unsafe_globals_in_checkpoint(file)
    assert f"{__name__}.Plain" in found
    assert "numpy.ndarray" in found
    if protocol == 2:  # PyTorch's own scan reads no other
        file.seek(0)
        assert sorted(found) == sorted(pt.serialization.get_unsafe_globals_in_checkpoint(file))
    assert torch.serialization.get_unsafe_globals_in_checkpoint(saved(torch.ones(1))) == []


# ---- how they are read --------------------------------------------------------------------------


def test_the_environment_decides_what_is_not_said(monkeypatch):
    file = saved(Plain(a=1))
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert torch.load(file) == Plain(a=1)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="both were set"):
        torch.load(file)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=False)


class Other:
    """A module of pickle's kind."""

    __name__ = "other"
    used = 0

    class Pickler(pickle._Pickler):
        def save(self, obj, save_persistent_id=True):
            Other.used += 1
            return super().save(obj, save_persistent_id)

    class Unpickler(pickle.Unpickler):
        pass


def test_another_pickle_module():
    base = torch.arange(3.0)
    obj = {"a": base, "b": base[1:], "c": Plain(d=torch.float32)}
    loaded = torch.load(saved(obj, pickle_module=Other()), pickle_module=Other(), weights_only=None)
    assert Other.used
    loaded["a"].fill_(4)
    assert loaded["b"].tolist() == [4, 4]
    assert loaded["c"].d is torch.float32


def test_tensors_of_one_memory_share_it_when_another_module_pickles():
    other = types.ModuleType("other")
    vars(other).update(vars(pickle))
    x, y = torch.ones(3), torch.zeros(3)
    y.data = x
    file = io.BytesIO()
    torch.save([x, y, x[1:]], file, pickle_module=other)
    file.seek(0)
    a, b, c = torch.load(file, pickle_module=other, weights_only=False)
    a.mul_(5)
    assert b.tolist() == [5.0] * 3
    assert c.tolist() == [5.0] * 2


def test_what_is_damaged_after_an_object_that_is_trusted():
    whole = saved([Plain(), 3])
    damaged = io.BytesIO()
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(damaged, "w") as made:
        for name in old.namelist():
            data = old.read(name)
            made.writestr(name, data[:-3] if name.endswith("data.pkl") else data)
    damaged.seek(0)
    with (
        torch.serialization.safe_globals([Plain]),
        pytest.raises(pickle.UnpicklingError, match="damaged at byte"),
    ):
        torch.load(damaged)
