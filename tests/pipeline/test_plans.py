"""Plans of a backend that is not ours: what the page on pipelines promises of entries and steps."""

import gc
import inspect
import re
import weakref
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.dispatcher import dispatch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.pipeline import Entry, Plan, Step
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values.devices import row_of

PAGE = Path(__file__).parents[2] / "docs" / "pipeline.md"


def snippet():
    """The plan that the page shows."""
    text = PAGE.read_text(encoding="utf-8").partition("## Plans of other backends")[2]
    scope = {}
    exec(re.search(r"^```python\n(.*?)^```$", text, re.S | re.M)[1], scope)
    return scope["AcmeRuntime"].plan


def program(a, b):
    """Generated and general recorders, options, a view, an op in place, one that is dropped."""
    c = torch.add(a, b, alpha=2)
    d = (c * b).relu()
    row = d.view(-1)
    e = d.clone()
    e.fill_(3.0)
    unseen = a + e
    del unseen
    return c, row, e, d.sum()


@pytest.fixture
def operands(toy):
    return [torch.tensor(v, device="toy") for v in ([[1.0, -2.0]], [[3.0, 4.0]])]


def test_the_plan_of_the_page_gives_the_eager_results(toy, operands, monkeypatch):
    wanted = [t.tolist() for t in program(*operands)]
    monkeypatch.setattr(toy.ToyRuntime, "plan", snippet(), raising=False)
    with torch.pipeline() as pipe:
        made = program(*operands)
    assert [t.tolist() for t in made] == wanted
    stats = pipe.stats()
    assert (stats["fused_groups"], stats["dropped"]) == (1, 1)
    assert stats["fused_ops"] == stats["recorded"] - 1


def test_a_plan_that_follows_the_page_fails_as_the_page_says(toy, operands, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("no memory left")

    monkeypatch.setattr(toy.ToyRuntime, "plan", snippet(), raising=False)
    with registry.scope():
        registry.register_kernel("relu", DispatchKey(row_of("toy").key), broken)
        with (
            pytest.raises(torch.PipelineError, match="ValueError: no memory left"),
            torch.pipeline(),
        ):
            kept = program(*operands)
        with pytest.raises(torch.PipelineError):
            kept[0].tolist()


def test_entries_tell_by_name_what_was_recorded(toy, operands, monkeypatch):
    seen = []

    def plan(self, entries):
        seen.extend(entries)
        return Plan([Step((i,)) for i, entry in enumerate(entries) if entry is not None])

    monkeypatch.setattr(toy.ToyRuntime, "plan", plan, raising=False)
    a, b = operands
    with torch.pipeline() as pipe:
        c = torch.add(a, b, alpha=2)
        line = inspect.currentframe().f_lineno - 1
        column = c.view(2, 1)
        b.fill_(5.0)
        assert all(type(entry) is Entry for entry in pipe.entries)
    add, view, fill = seen
    assert [e.op.name for e in seen] == ["aten::add", "aten::view", "aten::fill_.Scalar"]
    assert (add.args, add.kwargs, add.outs) == ((a, b), {"alpha": 2}, (c,))
    assert add.location == f"{__file__}:{line}"
    assert add.code is inspect.currentframe().f_code
    assert (view.op.view, view.args[0], view.outs) == (True, c, (column,))
    assert (fill.op.writes, fill.outs) == (True, (b,))
    assert [e.op.kernel is None for e in seen] == [False, True, False]
    assert column.tolist() == [[7], [6]]


def test_the_two_names_of_the_pipeline_are_names_of_dispatch():
    from mindtorch_core.dispatch import current_pipeline, pipeline_context

    with pipeline_context() as pipe:
        assert current_pipeline() is pipe
    assert current_pipeline() is None


def test_what_a_scope_registered_is_forgotten_with_its_recordings():
    """Neither the recorder nor a kept plan holds a kernel that is gone."""

    class Kernel:
        def __call__(self, x, y):
            return x.clone()

    kernel = Kernel()
    gone = weakref.ref(kernel)
    x = torch.ones(400, 400)
    with registry.scope():
        registry.register_schema("forgotten::op", "op(Tensor x, Tensor y) -> Tensor")
        registry.register(
            "forgotten::op", row_of("cpu").key, kernel, meta=lambda x, y: torch.empty_like(x)
        )
        with torch.pipeline() as pipe:
            y = torch.ops.forgotten.op(x * 2, x).exp() + 1
            assert pipe.entries[1].op.name == "forgotten::op"
        assert y.shape == (400, 400)
    del kernel, pipe
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("name", ["self", "input", "type", "len", "list", "_s", "_pipe", "from_"])
def test_parameters_of_recorded_ops_may_have_any_name(name):
    with registry.scope():
        registry.register_schema("named::op", f"op(Tensor a, Tensor {name}, *, int b=2) -> Tensor")
        registry.register(
            "named::op",
            row_of("cpu").key,
            lambda a, given, *, b=2: a + given * b,
            meta=lambda a, given, *, b=2: torch.empty_like(a),
        )
        with torch.pipeline():
            y = dispatch("named::op", None, torch.ones(2), torch.ones(2), b=3)
            assert y._pending
        assert y.tolist() == [4, 4]
