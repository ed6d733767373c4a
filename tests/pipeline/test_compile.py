"""`torch.compile`: calls are blocks, results are those of the plain calls."""

import gc
import threading

import pytest

import mindtorch_core as torch

F = torch.nn.functional


@pytest.fixture
def blocks(monkeypatch):
    """The pipelines that calls open, none of which is left out for being slower."""
    from mindtorch_core.ecosystem import compiled_calls

    made = []

    def opened(*args, **kwargs):
        made.append(torch.Pipeline(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr(compiled_calls, "pipeline_context", opened)
    monkeypatch.setattr(compiled_calls._Variant, "next_is_plain", lambda self: False)
    return made


def f(x, y, *, scale=2.0):
    return {"sum": (x * scale + y).tanh().sum(), "list": [x - y, 3]}


def test_calls_are_replayed(blocks):
    g = torch.compile(f)
    assert g.__name__ == "f"
    for i in range(6):
        x, y = torch.full((3,), float(i)), torch.ones(3)
        found, wanted = g(x, y, scale=0.5 * i), f(x, y, scale=0.5 * i)
        assert torch.equal(found["sum"], wanted["sum"])
        assert torch.equal(found["list"][0], wanted["list"][0])
        assert found["list"][1] == 3
    assert [pipe.stats()["replayed"] for pipe in blocks] == [0, 0, 0, 5, 5, 5]


def test_batches_of_a_larger_tensor(blocks):
    data = torch.arange(40.0).reshape(20, 2)
    g = torch.compile(lambda x: (x[1:] - x[:-1]).abs().sum() + x[0, 0])
    for i in range(8):
        assert g(data[2 * i : 2 * i + 3]).item() == 8 + 4 * i
    assert blocks[-1].stats()["replayed"] == blocks[-1].stats()["recorded"]


def test_each_shape_has_a_block_of_its_own(blocks):
    g = torch.compile(f)
    for _ in range(6):
        for n in (2, 3):
            assert g(torch.ones(n), torch.ones(n))["list"][0].shape == (n,)
    assert sum(pipe.stats()["replayed"] for pipe in blocks) == 2 * 3 * 5


def test_gradients(blocks):
    def loss(w, x):
        return (w * x).relu().sum()

    g = torch.compile(loss)
    w, x = torch.ones(3, requires_grad=True), torch.arange(3.0)
    for i in range(6):
        g(w, x).backward()
        assert w.grad.tolist() == [0, i + 1, 2 * (i + 1)]
    with torch.no_grad():
        assert not g(w, x).requires_grad


def test_control_flow_is_python(blocks):
    @torch.compile
    def g(x):
        return x * 2 if x.sum() > 0 else -x

    for i in range(12):
        x = torch.tensor([1.0 if i % 3 else -1.0])
        assert g(x).item() == (2 if i % 3 else 1)


def test_errors_are_those_of_the_plain_call(blocks):
    @torch.compile
    def g(x, i):
        return x[i] + 1

    for _ in range(5):
        assert g(torch.ones(3), torch.tensor([1])).tolist() == [2.0]
        with pytest.raises(IndexError, match="out of bounds") as raised:
            g(torch.ones(3), torch.tensor([5]))
        assert any(f"{__file__}:" in note for note in raised.value.__notes__)
    with pytest.raises(RuntimeError, match="must match"):
        g(torch.ones(3), torch.tensor([1])) + torch.compile(lambda x: x + torch.ones(2))(
            torch.ones(3)
        )


def test_random_numbers_are_drawn_anew(blocks):
    g = torch.compile(lambda x: x + torch.rand(3))
    x = torch.zeros(3)
    torch.manual_seed(0)
    found = [g(x) for _ in range(6)]
    torch.manual_seed(0)
    assert all(torch.equal(f, torch.rand(3)) for f in found)


def test_writes(blocks):
    @torch.compile
    def g(x, running):
        running.mul_(0.5).add_(x)
        return running[0]

    running, plain = torch.zeros(2), torch.zeros(2)
    for i in range(6):
        x = torch.full((2,), float(i))
        plain.mul_(0.5).add_(x)
        assert g(x, running).item() == plain[0].item()
        assert running._version == 2 * (i + 1)


def test_the_same_tensor_twice_and_views(blocks):
    @torch.compile
    def g(x, y):
        x.add_(1)
        return x + y

    for i in range(12):
        base = torch.zeros(4)
        x = base[:2]
        y = (x, base[1:3], base[2:], torch.zeros(2))[i % 4]
        wanted_base = torch.zeros(4)
        wanted_base[:2] += 1
        wanted = (
            wanted_base[:2]
            + (wanted_base[:2], wanted_base[1:3], wanted_base[2:], torch.zeros(2))[i % 4]
        )
        assert torch.equal(g(x, y), wanted)


def test_nested_calls_and_pipelines(blocks):
    inner = torch.compile(lambda x: x * 2)
    outer = torch.compile(lambda x: inner(x) + 1)
    with torch.pipeline() as pipe:
        assert outer(torch.ones(2))._pending
    assert pipe.stats()["recorded"] == 3
    for _ in range(5):
        assert outer(torch.ones(2)).tolist() == [3.0, 3.0]


def test_fullgraph(blocks):
    @torch.compile(fullgraph=True)
    def g(x):
        return x * 2 if x.sum() > 0 else x

    with pytest.raises(RuntimeError, match=rf"g cannot be one graph.*bool\(\) at {__file__}:"):
        g(torch.ones(2))


def test_fullgraph_looks_at_later_calls_too():
    @torch.compile(fullgraph=True)
    def g(x, looks):
        return x * 2 if looks and x.sum() > 0 else x

    for _ in range(6):
        assert torch.equal(g(torch.ones(2), False), torch.ones(2))
    with pytest.raises(RuntimeError, match=rf"g cannot be one graph.*bool\(\) at {__file__}:"):
        g(torch.ones(2), True)


def test_threads(blocks):
    g, wrong = torch.compile(f), []

    def work(k):
        for i in range(30):
            x = torch.full((3,), float(i + k))
            if not torch.equal(g(x, x)["sum"], f(x, x)["sum"]):
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_the_quicker_way_is_taken():
    """Whichever it is, after some calls one of both is chosen, and results stay."""
    from mindtorch_core.ecosystem.compiled_calls import _Variant

    variant = _Variant()
    for _ in range(10):
        variant.took(variant.next_is_plain(), 1.0 if variant.calls % 2 else 2.0)
    assert variant.next_is_plain()
    other = _Variant()
    for _ in range(10):
        other.took(other.next_is_plain(), 2.0 if other.calls % 2 else 1.0)
    assert not other.next_is_plain()


def test_settings(blocks):
    g = torch.compile(f)
    x = torch.ones(2)
    with torch.compiler.set_stance("force_eager"):
        g(x, x)
    torch.compiler.disable(g)(x, x)
    assert blocks == []
    torch._dynamo.reset()
    g(x, x)
    assert len(blocks) == 1
    with pytest.raises(RuntimeError, match=r"invalid torch\.compile stance"):
        torch.compiler.set_stance("fast")


def test_nothing_is_held(blocks):
    import weakref

    g = torch.compile(lambda x: (x * 2).exp())
    for _ in range(6):
        x = torch.ones(3)
        y = g(x)
    refs = [weakref.ref(x), weakref.ref(y)]
    del x, y
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


# ---- as PyTorch takes it ------------------------------------------------------------------------


def test_errors_under_their_names():
    exc = torch._dynamo.exc
    with pytest.raises(exc.Unsupported, match="looks at values"):
        torch.compile(lambda x: x if x.sum() > 0 else -x, fullgraph=True)(torch.ones(2))
    with pytest.raises(exc.InvalidBackend, match="Invalid backend: 'fast'"):
        torch.compile(f, backend="fast")
    assert issubclass(exc.BackendCompilerFailed, exc.TorchDynamoException)
    with pytest.raises(TypeError, match="options as a dict"):
        torch.compile(f, options="max_autotune")


def test_what_newer_versions_take():
    g = torch.compile(lambda x: x * 2, mode="lite", name="twice", recompile_limit=3)
    assert g(torch.ones(2)).tolist() == [2.0, 2.0]
    assert (
        torch._dynamo.optimize("eager", nopython=True)(lambda x: x + 1)(torch.ones(())).item() == 2
    )


def test_a_class_is_given_back(blocks):
    @torch.compile
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return x * self.by

    assert isinstance(Scale, type)
    assert isinstance(Scale(2), Scale)
    assert Scale(3)(torch.ones(2)).tolist() == [3.0, 3.0]
    assert len(blocks) == 1


def test_the_default_backend_and_functions_of_arrays():
    compiler = torch.compiler
    assert compiler.get_default_backend() == "inductor"
    with pytest.raises(torch._dynamo.exc.InvalidBackend):
        compiler.set_default_backend("fast")
    compiler.set_default_backend("eager")
    try:
        assert torch.compile(f)(torch.ones(2), torch.ones(2))["list"][1] == 3
    finally:
        compiler.set_default_backend("inductor")
    assert compiler.nested_compile_region(f) is f
    assert compiler.set_enable_guard_collectives(True) is False
    halved = compiler.wrap_numpy(lambda a, by: [a / by, "kept"])(torch.ones(2), by=2)
    assert halved[0].tolist() == [0.5, 0.5]
    assert halved[1] == "kept"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"options": {"bad_opt": 1}}, "Unexpected optimization option bad_opt, known options are"),
        ({"options": {"bad_opt": 1}, "disable": True}, "Unexpected optimization option bad_opt"),
        ({"options": {"max_autotune": "x"}}, "attr max_autotune, got str should be bool"),
        ({"options": {"triton.cudagraphs": 1}}, "attr triton.cudagraphs, got int should be bool"),
        ({"mode": "bad"}, "Unrecognized mode=bad, should be one of: default, lite"),
    ],
)
def test_options_that_there_are_not(given, text):
    with pytest.raises(RuntimeError, match=text):
        torch.compile(f, **given)


def test_options_that_there_are():
    for options in ({"max-autotune": True}, {"cpp.simdlen": 8}, {"guard_filter_fn": len}):
        torch.compile(f, options=options)
    torch.compile(f, backend="eager", options={"bad_opt": 1})
    torch.compile(f, backend="eager", mode="bad")
    for dynamic in ("x", 1):
        with pytest.raises(AssertionError, match="Expected enable to be a bool"):
            torch.compile(f, backend="eager", dynamic=dynamic)
    inductor = torch._inductor
    assert {"max_autotune", "triton.cudagraphs"} <= set(inductor.list_options())
    for options in inductor.list_mode_options().values():
        torch.compile(f, options=options)
    assert inductor.list_mode_options("reduce-overhead") == {"triton.cudagraphs": True}


def test_every_name_of_dynamo_is_there():
    dynamo = torch._dynamo
    others = (
        "bytecode_debugger",
        "config",
        "export",
        "lookup_backend",
        "register_backend",
        "replay",
    )
    for name in (*dynamo.__all__, *others):
        assert getattr(dynamo, name) is not None
    g = torch.compile(f)
    assert dynamo.run(g) is f
    assert [*map(dynamo.is_dynamo_disable_recursive, (f, dynamo.disable(f)))] == [None, True]
    with dynamo.override_cudagraphs(fwd=False), dynamo.disable_nested_graph_breaks(), dynamo.run():
        assert dynamo.override_cudagraphs(bwd=False)(lambda: 3)() == 3
    with pytest.raises(ValueError, match="greater or equal than 1"):
        dynamo.set_recursion_limit(0)


def test_a_call_is_explained():
    found = torch._dynamo.explain(torch.compile(lambda x: x * 2 if x.sum() > 0 else x))(
        torch.ones(3)
    )
    assert (found.graph_count, found.graph_break_count, found.op_count) == (2, 1, 3)
    assert [len(ops) for ops in found.ops_per_graph] == [2, 1]
    assert found.break_reasons[0].startswith(f"bool() at {__file__}:")
    assert "Graph Break Count: 1" in str(found)
