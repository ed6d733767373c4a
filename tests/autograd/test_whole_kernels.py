"""A backend's own kernel for a composition is used in training, whatever the composition."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.dispatch.whole import by_parts_because
from mindtorch_core.inspection import explain
from mindtorch_core.nn import functional as F
from mindtorch_core.testing import assert_close
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.conformance.cases import cases_of
from mindtorch_core.testing.conformance.gradient_tests import _gradients


class Counted:
    """A kernel of a backend's own: what the composition gives, made in one piece."""

    def __init__(self, name):
        self.calls = 0
        self.name = name
        self.compute = registry.entry(name).definition.decomposition

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.compute(*args, **kwargs)

    def there(self):
        return registry.register_kernel(self.name, "CPU", self)


def compositions():
    """Sample calls of ops without a gradient formula whose kernels are to be used in training."""
    found = {}
    for case in cases_of("test_gradients", "core"):
        d, entry = case.op, registry.entry(case.op.name)
        formulaless = d.grad is None and d.decomposition is not None
        if formulaless and not by_parts_because(entry) and not d.name.endswith("_backward"):
            found.setdefault(d.name, []).append(case)
    return found


def test_every_composition_trains_with_a_kernel_of_its_own():
    wrong, compared = [], 0
    for name, cases in compositions().items():
        wanted = [outcome(_gradients, case, case.sample.in_float64(), "cpu") for case in cases]
        kernel = Counted(name)
        with kernel.there():
            for case, want in zip(cases, wanted, strict=True):
                if isinstance(want, Exception) or not want:
                    continue
                before = kernel.calls
                found = outcome(_gradients, case, case.sample.in_float64(), "cpu")
                compared += 1
                if isinstance(found, Exception):
                    wrong.append(f"{case}: {found!r}")
                elif kernel.calls == before:
                    wrong.append(f"{case}: the kernel was passed over")
                else:
                    wrong += differing(case, found, want)
    assert not wrong, "\n".join(wrong)
    assert compared > 300


def differing(case, found, want):
    """What is wrong with gradients."""
    for (_, grad), (_, right) in zip(found, want, strict=True):
        if (grad is None) is not (right is None):
            return [f"{case}: a gradient is missing"]
        try:
            if grad is not None:
                assert_close(grad, right, rtol=1e-9, atol=1e-9, equal_nan=True)
        except AssertionError as error:
            return [f"{case}: {error}"]
    return []


def attention(x):
    return F.scaled_dot_product_attention(x, x, x.detach(), is_causal=True)


FUSED = {
    "layer_norm": lambda x: F.layer_norm(x, (4,), x.detach()[0, 0], x[0, 1]),
    "rms_norm": lambda x: F.rms_norm(x, (4,), x[0, 1]),
    "group_norm": lambda x: F.group_norm(x, 1, x[0, 0, :3], None),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "scaled_dot_product_attention": attention,
    "cross_entropy_loss": lambda x: F.cross_entropy(x, torch.ones(2, 4, dtype=torch.int64)),
    "nll_loss": lambda x: F.nll_loss(x, torch.ones(2, 4, dtype=torch.int64)),
    "l1_loss": lambda x: F.l1_loss(x, x.detach() * 2 - 1),
    "binary_cross_entropy_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, x * 0.5),
    "kl_div": lambda x: F.kl_div(x, x.detach().exp(), reduction="sum"),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.flip(0), 2),
}


@pytest.mark.parametrize("name", FUSED)
def test_one_node_stands_for_the_op(name):
    call = FUSED[name]

    def gradients():
        x = torch.linspace(-1, 2, 24, dtype=torch.float64).reshape(2, 3, 4).requires_grad_()
        y = call(x)
        (first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad((first * first).sum(), x)
        return y, first, second

    wanted = gradients()
    kernel = Counted(name)
    with kernel.there():
        found = gradients()
        words = "".join(word.capitalize() for word in name.split("_"))
        assert found[0].grad_fn.name() == f"{words}Backward0"
        assert kernel.calls == 1
        # A bound of its own: a block that was seen before at this line is followed, of another op.
        with torch.pipeline(max_ops=1000 + [*FUSED].index(name)):
            deferred = gradients()
        assert kernel.calls == 2
    for got in (found, deferred):
        for a, b in zip(got, wanted, strict=True):
            assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_it_says_so_when_a_saved_argument_changed():
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 1
    with Counted("rms_norm").there():
        out = F.rms_norm(y, (3,))
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.sum().backward()


def test_a_graph_is_walked_once_unless_it_is_retained():
    x = torch.ones(2, 3, requires_grad=True)
    with Counted("rms_norm").there():
        out = F.rms_norm(x, (3,)).sum()
        out.backward(retain_graph=True)
        out.backward()
        with pytest.raises(RuntimeError, match="second time"):
            out.backward()


def test_running_statistics_move_once():
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    for name in ("batch_norm", "instance_norm"):
        mean, var = torch.zeros(3), torch.ones(3)
        twice = [t.clone() for t in (mean, var)]
        call = getattr(F, name)
        given = x if name == "batch_norm" else x.reshape(1, 3, 4)
        call(given, *twice, None, None, True).sum().backward()
        with Counted(name).there():
            out = call(given, mean, var, None, None, True)
            mean.add_(0)  # what training writes is not kept for backward
            out.sum().backward()
        assert_close(mean, twice[0])
        assert_close(var, twice[1])


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kept", ["both", "mean", "none"])
@pytest.mark.parametrize("grad", [True, False])
def test_pipelines_record_a_normalisation_whole_and_its_statistics_by_ops(
    name, training, kept, grad
):
    def step(call):
        x = torch.linspace(-1, 3, 24, dtype=torch.float64).reshape(2, 3, 4).requires_grad_(grad)
        mean = torch.full((3,), 0.25, dtype=torch.float64) if kept != "none" else None
        var = torch.full((3,), 0.5, dtype=torch.float64) if kept == "both" else None
        weight = torch.arange(1.0, 4, dtype=torch.float64)
        outs = [call(x * k, mean, var, weight, None, training) for k in (1, 2)]
        if grad:
            (outs[0] + outs[1] ** 2).sum().backward()
        return *outs, mean, var, x.grad

    half = kept == "mean"
    if half or (not training and kept != "both"):
        error, told = RuntimeError, r"must be defined|to be defined"
        if half and training:
            error, told = ValueError, "must either both be None or neither"
        refused = pytest.raises(error, match=told)
        with Counted(name).there(), torch.pipeline(), refused:
            step(getattr(F, name))
        return
    wanted = step(getattr(F, name))
    kernel = Counted(name)
    with kernel.there(), torch.pipeline():
        found = step(getattr(F, name))
    assert kernel.calls == 2
    for a, b in zip(found, wanted, strict=True):
        assert (a is None) is (b is None)
        if a is not None:
            assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_attention_that_drops_weights_is_recorded_by_its_parts():
    kernel = Counted("scaled_dot_product_attention")
    x = torch.ones(1, 2, 3, 4, requires_grad=True)
    with kernel.there():
        out = F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
        assert kernel.calls == 0
        assert out.grad_fn.name() != "ScaledDotProductAttentionBackward0"
        out.sum().backward()


# ---- kernels that are passed over ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["dropout", "dropout_", "flatten", "alpha_dropout"])
def test_registering_a_kernel_that_is_passed_over_warns(name):
    with pytest.warns(UserWarning, match=f"(?s)aten::{name} for the device 'cpu'.*AutogradCPU"):
        registration = registry.register_kernel(name, "CPU", lambda *args: None)
    with registration:
        row = explain(name, requires_grad=True).chosen
        assert row.rule == "parts"
        assert re.search(r"passed over: the kernel at CPU \(.*test_whole_kernels", row.notes[0])
    with registry.register_kernel(name, "AutogradCPU", lambda *args: None):
        registry.register_kernel(name, "CPU", lambda *args: None).remove()  # no warning


def test_dropout_trains_through_the_op_that_gives_its_mask():
    calls = []

    def forward(input, p, train):
        calls.append("forward")
        mask = torch.tensor([True, False, True])
        return input * mask / (1 - p), mask

    def backward(grad_output, mask, scale):
        calls.append("backward")
        return grad_output * mask * scale

    x = torch.ones(3, requires_grad=True)
    with (
        registry.register_kernel("native_dropout", "CPU", forward),
        registry.register_kernel("native_dropout_backward", "CPU", backward),
    ):
        y = F.dropout(x, 0.5)
        y.sum().backward()
    assert calls == ["forward", "backward"]
    assert x.grad.tolist() == y.tolist() == [2, 0, 2]


@pytest.mark.parametrize("through_backward", [False, True])
@pytest.mark.parametrize(
    "name", ["mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "isclose"]
)
def test_pipelines_record_a_kernel_for_a_composition_with_a_formula(name, through_backward):
    x, y = (torch.tensor(v, requires_grad=v[0] == 0.25) for v in ([0.25, 0.5], [0.75, 0.5]))
    call = getattr(F, name, None) or getattr(torch, name)

    def made(result):
        return result.tolist(), [g.tolist() for g in torch.autograd.grad(result, x)] if (
            result.requires_grad
        ) else []

    wanted, kernel = made(call(x, y)), Counted(name)
    with kernel.there(), torch.pipeline(through_backward=through_backward) as pipe:
        found = call(x, y)
        assert found._pending
        assert not pipe.stats()["breaks"]
        assert made(found) == wanted
        with pytest.raises((RuntimeError, ValueError), match="size"):  # of the parts
            getattr(torch.ops.aten, name)(x, torch.ones(3))
    assert kernel.calls == 1
