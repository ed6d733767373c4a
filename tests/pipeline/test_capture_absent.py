"""`torch.pipeline.capture`: what a function finds to be absent, or counts, is guarded as what it reads is."""

import builtins
import collections
import functools
import inspect
import logging
import math
import operator
import os
import pathlib
import sys
import tempfile
import threading
import time
import types
import typing
import weakref

import pytest

import mindtorch_core as torch

THIS = globals()
capture = torch.pipeline.capture


class Box:
    """Has attributes of all sorts."""

    first = 2

    def __init__(self):
        self.number, self.inner, self.held = 2, types.SimpleNamespace(value=2), {}


class Base:
    pass


class Derived(Base):
    pass


class Later(Base):
    pass


class Kept:
    @functools.cached_property
    def size(self):
        return 2


class Counting(dict):
    def __missing__(self, key):
        return 1


class Matched:
    __match_args__ = ("one",)
    one, other = 2, 5


def annotated(one: int) -> int:
    return one


def matched():
    match Matched():
        case Matched(value):
            return value


def without_a_name(held):
    try:
        return held["a"]
    except:  # noqa: E722 (what is tested)
        return 1


def under_another_name():
    held = TABLE
    return len(held)


def tried():
    try:
        return BOX.mt_y
    except AttributeError:
        return 1


def named():
    return len(found) if (found := TABLE) else 1


def handed_on(held, more):
    return len(held) + more


TEMPLATE, NAME = "{.number}", "mt_x"
BOX, KEPT, DERIVED, TABLE, COUNTED = Box(), Kept(), Derived(), {}, Counting()
TABLES = [{}]
DRAWS = torch.Generator().manual_seed(3)
SGD = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.25)
MODULE = types.ModuleType("a_module_of_users")
MODULE.__getattr__ = lambda name: 3
WEAK, WEAKLY_KEYED, WEAKLY_VALUED = (
    weakref.WeakSet(),
    weakref.WeakKeyDictionary(),
    weakref.WeakValueDictionary(),
)
EVENT, LOCK = threading.Event(), threading.Lock()
DEFAULT = collections.defaultdict(int)


def put(holder, name, value=5):
    return lambda patch: patch.setattr(holder, name, value, raising=False)


def enter(held, key, value=5):
    return lambda patch: patch.setitem(held, key, value)


def rebase(base):
    Derived.__bases__ = (base,)


CASES = {
    # ---- what is not there yet
    "hasattr of builtins": (lambda: 1 + hasattr(builtins, "mt_a"), put(builtins, "mt_a")),
    "getattr of builtins": (lambda: getattr(builtins, "mt_b", 1), put(builtins, "mt_b")),
    "hasattr of math": (lambda: 1 + hasattr(math, "mt_c"), put(math, "mt_c")),
    "hasattr of typing": (lambda: 1 + hasattr(typing, "mt_c"), put(typing, "mt_c")),
    "hasattr of torch": (lambda: 1 + hasattr(torch, "mt_c"), put(torch, "mt_c")),
    "hasattr of tensors": (lambda: 1 + hasattr(torch.Tensor, "mt_d"), put(torch.Tensor, "mt_d")),
    "hasattr of a class": (lambda: 1 + hasattr(Box, "mt_e"), put(Box, "mt_e")),
    "hasattr of an object": (lambda: 1 + hasattr(BOX, "mt_f"), put(Box, "mt_f")),
    "hasattr by a variable": (lambda: 1 + hasattr(Box, NAME), put(Box, "mt_x")),
    "an attribute that is tried": (tried, put(Box, "mt_y")),
    "callable": (lambda: 1 + callable(BOX), put(Box, "__call__", lambda self: 1)),
    "getattr_static": (lambda: inspect.getattr_static(Box, "mt_g", 1), put(Box, "mt_g")),
    "a variable by get": (lambda: globals().get("MT_H", 1), enter(THIS, "MT_H")),
    "a variable by in": (lambda: 1 + ("MT_I" in globals()), enter(THIS, "MT_I")),
    "a method for truth": (lambda: 2 if Base() else 3, put(Base, "__bool__", lambda self: False)),
    "a method for ==": (lambda: 1 + (Base() == 1), put(Base, "__eq__", lambda self, other: True)),
    "a method for format": (
        lambda: len(f"{Base()}"),
        put(Base, "__format__", lambda self, spec: "abc"),
    ),
    "a cached property": (lambda: KEPT.size, enter(vars(KEPT), "size")),
    # ---- how many there are
    "vars of an object": (lambda: len(vars(BOX)), put(BOX, "mt_j")),
    "dir of an object": (lambda: len(dir(BOX)), put(BOX, "mt_k")),
    "dir of builtins": (lambda: len(dir(builtins)), put(builtins, "mt_l")),
    "__dict__ of a class": (lambda: len(Box.__dict__), put(Box, "mt_m")),
    "__dict__ of a function": (lambda: len(annotated.__dict__), put(annotated, "mt_n")),
    "getmembers": (lambda: len(inspect.getmembers(Box)), put(Box, "mt_o")),
    "bases": (lambda: 1 + isinstance(DERIVED, Later), lambda patch: rebase(Later)),
    # ---- descriptions
    "get_type_hints": (
        lambda: len(typing.get_type_hints(annotated)),
        enter(annotated.__annotations__, "two", int),
    ),
    "get_annotations": (
        lambda: len(inspect.get_annotations(annotated)),
        enter(annotated.__annotations__, "two", int),
    ),
    "getdoc": (lambda: len(inspect.getdoc(Box)), put(Box, "__doc__", "abc")),
    "match": (matched, put(Matched, "__match_args__", ("other",))),
    "an attribute by a dotted text": (
        lambda: operator.attrgetter("inner.value")(BOX),
        put(BOX.inner, "value"),
    ),
    "an attribute by format": (lambda: int(TEMPLATE.format(BOX)), put(BOX, "number")),
    "__getattribute__": (lambda: object.__getattribute__(BOX, "number"), put(BOX, "number")),
    "__globals__": (lambda: annotated.__globals__["MT_P"], enter(THIS, "MT_P")),
    "__getattr__ of a module": (lambda: MODULE.later, put(MODULE, "__getattr__", len)),
    # ---- entries of dicts
    "len": (lambda: 1 + len(TABLE), enter(TABLE, "a")),
    "truth": (lambda: 2 if TABLE else 1, enter(TABLE, "a")),
    "iteration": (lambda: 1 + sum(1 for _ in TABLE), enter(TABLE, "a")),
    "comparison": (lambda: 1 + (TABLE == {}), enter(TABLE, "a")),
    "union": (lambda: 1 + len({**TABLE}), enter(TABLE, "a")),
    "another name": (lambda: 1 + under_another_name(), enter(TABLE, "a")),
    "handed on": (lambda: handed_on(TABLE, 1), enter(TABLE, "a")),
    "handed on before others": (lambda: handed_on(more=1, held=TABLE), enter(TABLE, "a")),
    "in a tuple": (lambda: 1 + sum(len(d) for d in (TABLE, {})), enter(TABLE, "a")),
    "an element of a list": (lambda: 1 + sum(len(d) for d in TABLES), enter(TABLES[0], "a")),
    "a name on the way": (lambda: named() + 1, lambda p: TABLE.update(a=1, b=2)),
    "an attribute": (lambda: 1 + len(BOX.held), enter(BOX.held, "a")),
    "except": (lambda: without_a_name(TABLE), enter(TABLE, "a")),
    "missing": (lambda: COUNTED["a"], enter(COUNTED, "a")),
    "a default": (lambda: 1 + DEFAULT["a"], enter(DEFAULT, "a")),
    # ---- what libraries hold
    "a weak set": (lambda: 1 + len(WEAK), lambda patch: WEAK.add(BOX)),
    "weak keys": (lambda: 1 + len(WEAKLY_KEYED), enter(WEAKLY_KEYED, BOX)),
    "weak values": (lambda: 1 + len(WEAKLY_VALUED), enter(WEAKLY_VALUED, "a", BOX)),
    "an event": (lambda: 1 + EVENT.is_set(), lambda patch: EVENT.set()),
    "a lock": (lambda: 1 + LOCK.locked(), lambda patch: LOCK.acquire()),
    "expandvars": (lambda: len(os.path.expandvars("$MT_Q")), lambda p: p.setenv("MT_Q", "a")),
    "abspath": (lambda: len(os.path.abspath("a")), lambda patch: patch.chdir("/")),
    "cwd": (lambda: len(str(pathlib.Path.cwd())), lambda patch: patch.chdir("/")),
    "gettempdir": (lambda: len(tempfile.gettempdir()), put(tempfile, "tempdir", "/abcdefgh")),
    "a generator's seed": (lambda: DRAWS.initial_seed(), lambda patch: DRAWS.manual_seed(5)),
    "an optimizer's defaults": (lambda: SGD.defaults["lr"], enter(SGD.defaults, "lr", 0.5)),
    "kernels of attention": (
        lambda: 1 + torch.backends.cuda.flash_sdp_enabled(),
        lambda patch: torch.backends.cuda.enable_flash_sdp(False),
    ),
    "a logger's level": (
        lambda: 1 + logging.getLogger("mt").isEnabledFor(logging.INFO),
        lambda patch: logging.getLogger("mt").setLevel(logging.DEBUG),
    ),
}
THIS["MT_P"] = 2


@pytest.mark.parametrize("case", CASES)
def test_what_a_function_finds_is_guarded(case, monkeypatch, tmp_path):
    read, change = CASES[case]
    monkeypatch.chdir(tmp_path)
    captured = capture(lambda x: x * read())
    x = torch.ones(2)
    for _ in range(3):
        assert captured(x).tolist() == [read()] * 2
    before = read()
    try:
        with monkeypatch.context() as patch:
            change(patch)
            assert read() != before  # else nothing is tested
            with pytest.raises(torch.CaptureError, match=r"captured, and is|since"):
                captured(x)
    finally:
        rebase(Base)
        DRAWS.manual_seed(3)
        torch.backends.cuda.enable_flash_sdp(True)
        logging.getLogger("mt").setLevel(logging.NOTSET)
        EVENT.clear()
        if LOCK.locked():
            LOCK.release()
        WEAK.clear()
        TABLE.clear()


@pytest.mark.parametrize(
    "asks",
    [
        lambda: time.localtime().tm_year,
        lambda: int(time.strftime("%Y")),
        lambda: 1 + weakref.getweakrefcount(BOX),
    ],
)
def test_clocks_and_memory_are_refused_by_other_names(asks):
    with pytest.raises(
        torch.CaptureError, match=r"another answer in each call: (a clock|what is in memory)"
    ):
        capture(lambda x: x * asks())(torch.ones(2))


def test_what_no_code_asks_for_may_come(monkeypatch):
    table, log = {"a": 2}, {"losses": []}

    def step(x):
        log["losses"].append(1)
        return x * table["a"] * BOX.number if hasattr(BOX, "number") else x

    captured, x = capture(step), torch.ones(2)
    captured(x)
    monkeypatch.setattr(Box, "mt_r", 1, raising=False)
    monkeypatch.setattr(BOX, "mt_s", 1, raising=False)
    monkeypatch.setattr(torch, "mt_t", 1, raising=False)
    monkeypatch.setitem(THIS, "MT_U", 1)
    monkeypatch.setenv("MT_V", "1")
    monkeypatch.setitem(sys.modules, "mt_w", MODULE)
    table["b"] = 3
    assert captured(x).tolist() == [4, 4]
