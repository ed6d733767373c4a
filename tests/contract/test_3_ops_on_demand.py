"""Ops that are defined when they are first asked for, and backends that wait for them."""

import importlib
import itertools
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from mindtorch_core.dispatch.on_demand import told
from mindtorch_core.dispatch.opdef import OpDef
from mindtorch_core.dispatch.registry import OperatorRegistry
from mindtorch_core.dispatch.registry import registry as CORE
from mindtorch_core.operators.homes import HOMES

_NUMBERS = itertools.count()


class Library:
    """A package of modules that define ops, each with a counter of how often it ran."""

    def __init__(self, folder):
        self.name = f"ops_on_demand_{next(_NUMBERS)}"
        self.folder = folder / self.name
        self.folder.mkdir()
        (self.folder / "__init__.py").touch()
        self.registry = OperatorRegistry()
        self.runs = []
        self.hooks = {}

    def ran(self, name):
        """What each module of `modules` calls when it is imported."""
        self.runs.append(name)
        if name in self.hooks:
            self.hooks[name]()

    def modules(self, **sources):
        """Write the modules and list them: each defines the op of its name, after its source."""
        for name, source in sources.items():
            text = f"""
                {source}
                library.ran({name!r})
                library.define({name!r})
            """
            head = f"import {__name__} as test; library = test.LIBRARIES[{self.name!r}]\n"
            (self.folder / f"{name}.py").write_text(head + textwrap.dedent(text))
        rows = [(name, f"aten: {name} {name}.out") for name in sources]
        self.registry.on_demand.listed(self.name, rows)

    def define(self, name):
        """Define an op as the core does."""
        schema = f"{name}(Tensor self) -> Tensor"
        self.registry.register_schema(name, schema, definition=OpDef(name, schema, doc=name))


LIBRARIES = {}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Ops that are defined by modules ``late``, ``other`` and ``both``, which imports ``late``."""
    made = Library(tmp_path)
    LIBRARIES[made.name] = made
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    made.modules(late="", other="", both="from . import late")
    made.registry.register_schema("here", "here(Tensor self) -> Tensor")
    yield made
    del LIBRARIES[made.name]
    for name in [n for n in sys.modules if n.partition(".")[0] == made.name]:
        del sys.modules[name]


@pytest.fixture
def registry(library):
    return library.registry


def kernel(self):
    return self


def kernels_for(registry, *names):
    """A backend's function that registers for those of some ops that have come."""

    def register(come):
        for name in names:
            if f"aten::{name}" in come:
                registry.register_kernel(name, "CPU", kernel)

    return register


def defined(registry):
    return [e.name.removeprefix("aten::") for e in registry.defined()]


def test_a_known_name_defines_nothing_else(library, registry):
    assert registry.find("here") is not None
    assert registry.overloads("aten::here")
    assert library.runs == []
    assert registry.on_demand.pending


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.find("late"),
        lambda r: r.find("late.out"),
        lambda r: r.entry("aten::late"),
        lambda r: "late" in r,
        lambda r: r.overloads("aten::late"),
        lambda r: r.register_kernel("late", "CPU", kernel),
    ],
)
def test_a_name_of_the_table_defines_what_its_module_holds(library, registry, ask):
    ask(registry)
    assert defined(registry) == ["here", "late"]
    ask(registry)
    assert library.runs == ["late"]
    assert registry.on_demand.pending


def test_what_a_module_imports_is_defined_too(library, registry):
    registry.find("both")
    assert defined(registry) == ["here", "late", "both"]
    registry.find("late")
    assert library.runs == ["late", "both"]


@pytest.mark.parametrize("ask", [list, lambda r: r.on_demand.define_all()])
def test_a_look_at_all_defines_all_once(library, registry, ask):
    ask(registry)
    assert sorted(defined(registry)) == ["both", "here", "late", "other"]
    assert not registry.on_demand.pending
    ask(registry)
    assert len(library.runs) == 3


def test_a_name_that_the_table_lacks_defines_nothing(library, registry):
    assert registry.find("nowhere") is None
    assert registry.find("acme::late") is None
    assert registry.overloads("aten::nowhere") == []
    with pytest.raises(RuntimeError, match=r"named aten::laet\. Did you mean aten::late"):
        registry.entry("laet")
    assert library.runs == []


def test_a_definition_belongs_to_no_transaction(registry):
    def fails():
        with registry.transaction("acme"):
            registry.find("late")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert registry.entry("late").has_schema
    assert registry.entry("late").schemas[-1].distribution == ""


def test_backends_register_for_what_there_is_and_what_comes(registry):
    with registry.transaction("acme"):
        registry.when_defined(kernels_for(registry, "here", "late", "other"))
    assert registry.known("here").records
    assert registry.known("late") is None
    (record,) = registry.entry("late").records.values()
    assert (record[-1].fn, record[-1].distribution) == (kernel, "acme")
    assert registry.known("other") is None


def test_a_backend_that_comes_later_is_told_of_all(registry):
    registry.find("late")
    registry.when_defined(kernels_for(registry, "late"))
    assert registry.entry("late").records


def test_what_a_backend_registered_for_an_op_goes_with_the_op(registry):
    schema = "mine(Tensor self) -> Tensor"
    with registry.scope():
        registry.register_schema("mine", schema, definition=OpDef("mine", schema, doc="mine"))
        with registry.transaction("acme", independent=True) as journal:
            registry.when_defined(kernels_for(registry, "here", "mine"))
        assert registry.known("mine").records
    assert registry.known("mine") is None
    assert registry.known("here").records
    for undo in reversed(journal):
        undo()
    assert registry.known("mine") is None
    assert not registry.known("here").records


def test_it_stays_while_the_op_has_a_schema_of_another(registry):
    schema = "mine(Tensor self) -> Tensor"
    first = registry.register_schema("mine", schema)
    second = registry.register_schema("mine", schema)
    registry.when_defined(kernels_for(registry, "mine"))
    second.remove()
    assert registry.known("mine").records
    second = registry.register_schema("mine", schema)
    first.remove()
    assert registry.known("mine").records
    second.remove()
    assert registry.known("mine") is None


def test_kernels_of_others_stay_without_the_op(registry):
    schema = "mine(Tensor self) -> Tensor"
    made = registry.register_schema("mine", schema)
    with registry.transaction("acme"):
        registry.register_kernel("mine", "CPU", kernel)
    made.remove()
    assert registry.known("mine").records


@pytest.mark.parametrize("before", [True, False])
def test_a_backend_that_is_taken_back_leaves_nothing(registry, before):
    with registry.transaction("acme") as journal:
        registry.when_defined(kernels_for(registry, "late", "other"))
    if not before:
        assert registry.entry("late").records
    for undo in reversed(journal):
        undo()
    assert not registry.entry("late").records
    assert not registry.entry("other").records


def test_a_backend_that_fails_then_is_named_and_leaves_nothing(registry):
    def register(come):
        if "aten::late" in come:
            registry.register_kernel("late", "CPU", kernel)
            raise ValueError("no such library")
        if "aten::other" in come:
            registry.register_kernel("other", "CPU", kernel)

    with registry.transaction("mindtorch-acme 1.0"):
        registry.when_defined(register)
        registry.when_defined(kernels_for(registry, "late"))
    with pytest.warns(
        UserWarning, match=r"mindtorch-acme 1\.0 failed.*ValueError: no such library"
    ):
        found = registry.entry("late")
    assert len(found.records) == 1  # the other backend's
    assert registry.entry("other").records  # and it is told of later ones


def test_a_backend_that_needs_other_ops_has_them_defined(library, registry):
    told = []

    def register(come):
        told.append(come)
        if "aten::late" in come:
            registry.entry("other")
            registry.register_kernel("late", "CPU", kernel)

    with registry.transaction("acme") as journal:
        registry.when_defined(register)
    registry.find("late")
    assert told == [("aten::here",), ("aten::late",), ("aten::other",)]
    assert registry.known("other").schemas[-1].distribution == ""
    for undo in reversed(journal):
        undo()
    assert not registry.known("late").records
    assert registry.known("other").has_schema  # the core's, though a plugin asked for it


def test_a_module_that_is_imported_by_itself_is_told_of(library, registry):
    registry.when_defined(kernels_for(registry, "late"))
    importlib.import_module(f"{library.name}.late")
    assert registry.entry("late").records


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, RecursionError])
def test_a_definition_that_fails_is_made_anew(library, registry, error):
    def fail():
        library.hooks.clear()
        raise error

    library.hooks["both"] = fail
    registry.when_defined(kernels_for(registry, "late", "both"))
    with pytest.raises(error):
        registry.find("both")
    assert defined(registry) == ["here"]  # what it imports is gone with it
    assert registry.entry("both").records
    assert registry.entry("late").records
    assert library.runs == ["late", "both", "late", "both"]


def test_an_interrupt_while_backends_register_leaves_nothing(library, registry):
    interrupts = iter([KeyboardInterrupt])

    def register(come):
        if "aten::late" in come:
            registry.register_kernel("late", "CPU", kernel)
            for each in interrupts:
                raise each

    first = kernels_for(registry, "late")
    with registry.transaction("one") as journal:
        registry.when_defined(first)
    with registry.transaction("two"):
        registry.when_defined(register)
    with pytest.raises(KeyboardInterrupt):
        registry.find("late")
    assert defined(registry) == ["here"]
    (records,) = registry.entry("late").records.values()
    assert [r.distribution for r in records] == ["one", "two"]
    for undo in reversed(journal):
        undo()
    (records,) = registry.entry("late").records.values()
    assert [r.distribution for r in records] == ["two"]


def test_an_interrupt_at_any_line_leaves_it_to_the_next(library, registry):
    """Wherever it strikes, the next one who asks gets the op with its kernel, once."""
    for at in itertools.count():
        fresh = OperatorRegistry()
        library.registry = fresh
        for name in [n for n in sys.modules if n.startswith(f"{library.name}.")]:
            del sys.modules[name]
            vars(sys.modules[library.name]).pop(name.rpartition(".")[2], None)
        fresh.on_demand.listed(library.name, [("late", "aten: late"), ("both", "aten: both")])
        fresh.when_defined(kernels_for(fresh, "late", "both"))
        left, where = [at], []

        def strike(frame, event, arg, left=left):
            if "on_demand" not in frame.f_code.co_filename:
                return None
            if event == "line":
                left[0] -= 1
                if left[0] == -1:
                    where.append(f"{frame.f_code.co_name}:{frame.f_lineno}")
                    raise KeyboardInterrupt
            return strike

        sys.settrace(strike)
        try:
            fresh.find("both")
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        assert [len(r) for r in fresh.entry("both").records.values()] == [1], where
        assert [len(r) for r in fresh.entry("late").records.values()] == [1], where
        if left[0] >= 0:
            break
    assert at > 20


def test_many_threads_define_it_once(library, registry):
    library.hooks["late"] = lambda: time.sleep(0.05)
    registry.when_defined(kernels_for(registry, "late"))
    start = threading.Barrier(8, timeout=60)
    found = []

    def ask():
        start.wait()
        entry = registry.find("late")
        found.append((entry, len(entry.records)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert library.runs == ["late"]
    assert {*found} == {(registry.known("late"), 1)}


def run(script):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )


def test_a_training_step_needs_none_of_them():
    done = run(
        """
        import mindtorch_core as torch
        from mindtorch_core.dispatch.registry import registry

        w = torch.randn(4, 3).requires_grad_()
        x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
        with torch.pipeline():
            loss = torch.nn.functional.cross_entropy((x @ w).relu(), y)
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        print(loss.item() > 0, registry.on_demand.pending)
        """
    )
    assert done.stdout == "True True\n", done.stderr


@pytest.mark.parametrize("name", ["real", "imag"])
def test_a_property_whose_op_is_not_defined_yet_is_read_and_written(name):
    done = run(
        f"""
        import mindtorch_core as torch
        z = torch.tensor([1 + 2j])
        print(z.{name}.item())
        z.{name} = 5
        print(z.item().{name})
        """
    )
    assert done.stdout.split() == ["1.0" if name == "real" else "2.0", "5.0"], done.stderr


def test_all_ops_of_a_name_are_defined_together():
    """One module holds the overloads, the function and the method of a name, and in-place forms."""
    homes = {}
    for module, text in HOMES:
        for places, names in told(text):
            for place, name in itertools.product(places, names):
                shared = place in ("aten", "torch", "Tensor")
                base = name.partition(".")[0]
                homes.setdefault(("" if shared else place, base), set()).add(module)
    assert len(homes) > 500
    assert {key: found for key, found in homes.items() if len(found) > 1} == {}
    home = CORE.on_demand.home
    forms = [d for e in CORE if (d := e.definition) is not None and d.functional is not None]
    assert len(forms) > 100
    for form in forms:
        base, inplace = (d.name.partition(".")[0] for d in (form.functional, form))
        assert home("aten", base) == home("aten", inplace), form.name


def test_no_name_has_overloads_of_both_kinds():
    done = run(
        """
        from mindtorch_core.opdefs.define import FUNCTIONS
        from mindtorch_core.dispatch.registry import registry

        def counts():
            found = {(s, n): len(p.entries) for s, ps in FUNCTIONS.items() for n, p in ps.items()}
            for entry in registry.defined():
                base = entry.name.partition(".")[0]
                found[base] = found.get(base, 0) + 1
            return found

        before = counts()
        registry.on_demand.define_all()
        after = counts()
        print([name for name, count in before.items() if after[name] != count])
        """
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="each module is defined in a fork of one process"
)
def test_a_module_alone_brings_the_kernels_that_all_bring():
    done = run(
        """
        import os, pickle, sys
        import mindtorch_core as torch
        from mindtorch_core.dispatch.on_demand import told
        from mindtorch_core.dispatch.registry import registry
        from mindtorch_core.operators.homes import HOMES

        torch.ones(1), torch.ones(1, device="meta")

        def kernels_after(step):
            "What is registered by op, in a process that takes the step."
            read, write = os.pipe()
            if not os.fork():
                step()
                found = {e.name: sorted(key.name for key in e.kernels) for e in registry.defined()}
                with os.fdopen(write, "wb") as file:
                    pickle.dump(found, file)
                os._exit(0)
            os.close(write)
            with os.fdopen(read, "rb") as file:
                found = pickle.load(file)
            os.wait()
            return found

        wanted = kernels_after(registry.on_demand.define_all)
        first = {module: next(told(text)) for module, text in HOMES}
        counted = 0
        for module, ((place, *_), (name, *_)) in first.items():
            base = name.partition(".")[0]
            found = kernels_after(lambda: registry.on_demand.define(place, base))
            wrong = {n: (k, wanted[n]) for n, k in found.items() if k != wanted[n]}
            counted += len(found) - len(registry.defined())
            assert not wrong, (module, wrong)
        print(len(first) > 80, counted > 800)
        """
    )
    assert done.stdout == "True True\n", done.stderr
