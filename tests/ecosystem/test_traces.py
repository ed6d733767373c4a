"""`torch.jit.trace` beside PyTorch: what the traced function or module computes, and what is refused."""

import pytest

import mindtorch_core as mt

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
BOTH = (torch, mt)


def net(lib):
    lib.manual_seed(0)
    return lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4), lib.nn.GELU())


def both(of):
    theirs, mine = (of(lib) for lib in BOTH)
    assert mine == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("packed", [lambda x: x, lambda x: (x,), lambda x: [x]])
def test_traced_module(packed):
    def computed(lib):
        model = net(lib).eval()
        traced = lib.jit.trace(model, packed(lib.ones(2, 3)))
        x = lib.arange(6.0).reshape(2, 3).requires_grad_()
        traced(x).sum().backward()
        return [
            *traced(x).flatten().tolist(),
            *x.grad.flatten().tolist(),
            *model[0].bias.grad.tolist(),
        ]

    both(computed)


def test_traced_functions():
    def computed(lib):
        add = lib.jit.trace(lambda a, b: a + 2 * b, (lib.ones(2), lib.ones(2)))
        named = lib.jit.trace(
            lib.nn.Linear(2, 2, bias=False)
            .requires_grad_(False)
            .apply(lambda m: m.weight.fill_(2)),
            example_kwarg_inputs={"input": lib.ones(1, 2)},
        )
        of_dict = lib.jit.trace(lambda d: d["a"] * 3, {"a": lib.ones(2)})
        return [
            *add(lib.ones(3), lib.arange(3.0)).tolist(),
            *named(input=lib.arange(2.0)).tolist(),
            *of_dict({"a": lib.arange(2.0)}).tolist(),
        ]

    both(computed)


def test_traced_methods_and_what_serves_inference():
    def computed(lib):
        class Two(lib.nn.Module):
            def forward(self, x):
                return x + 1

            def twice(self, x, y):
                return x * 2 + y

        one = lib.ones(2)
        traced = lib.jit.trace_module(Two().eval(), {"forward": one, "twice": (one, one)})
        served = lib.jit.optimize_for_inference(lib.jit.script(lib.nn.BatchNorm1d(2)))
        x = lib.arange(2.0)
        return [*traced(x).tolist(), *traced.twice(x, one).tolist(), *served(x[None])[0].tolist()]

    both(computed)


@pytest.mark.parametrize("lib", BOTH, ids=["pytorch", "mindtorch"])
def test_what_is_refused(lib):
    with pytest.raises(RuntimeError, match="example_kwarg_inputs should be a dict"):
        lib.jit.trace(net(lib))
    with pytest.raises(AttributeError, match="expected a dictionary of"):
        lib.jit.trace_module(net(lib), (lib.ones(2, 3),))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        lib.jit.trace(net(lib), lib.ones(2, 5))
