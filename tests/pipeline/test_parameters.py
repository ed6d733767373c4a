"""Parameters and tensors of other classes are operands of recorded ops like any tensor."""

import copy

import pytest

import mindtorch_core as torch

nn = torch.nn


class Plain(torch.Tensor):
    """A class of tensors that changes nothing."""


def of_class(kind, t):
    return nn.Parameter(t) if kind == "parameter" else t.as_subclass(Plain)


KINDS = ["parameter", "class"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [3, 300_000])
@pytest.mark.parametrize("grad", [True, False])
def test_chains_and_writes(kind, size, grad):
    """Also those that are computed tile by tile."""
    for _ in range(5):
        p, plain = of_class(kind, torch.arange(float(size))), torch.arange(float(size))
        with torch.pipeline(), torch.set_grad_enabled(grad):
            y = (p * 2 + p).sin() - torch.where(p > 1, p, 2.0)
        assert torch.equal(y, (plain * 2 + plain).sin() - torch.where(plain > 1, plain, 2.0))
        with torch.pipeline(), torch.no_grad():
            p.mul_(1.5).add_(plain)
            p.sub_(p.sin(), alpha=0.1)
            z = torch.cat([p, p])
        plain = plain * 1.5 + plain
        plain = plain.sub(plain.sin(), alpha=0.1)
        assert torch.equal(p, plain)
        assert torch.equal(z, torch.cat([plain, plain]))


@pytest.mark.parametrize("kind", KINDS)
def test_what_reads_one_runs_before_it_is_written(kind):
    for _ in range(5):
        p = of_class(kind, torch.ones(3))
        with torch.pipeline(through_backward=True) as pipe, torch.no_grad():
            before, twice = p.sum(), torch.stack([p, p])
            p.add_(1)
            assert p[0].item() == 2  # launches no more than that needs
        assert pipe.stats()["breaks"]
        assert before.item() == 3
        assert twice.tolist() == [[1.0] * 3] * 2


def test_one_that_is_made_in_a_block():
    for _ in range(5):
        with torch.pipeline():
            w = nn.Parameter(torch.ones(2, 2) * 3)
            y = torch.ones(3, 2) @ w
            z = w.t() + 1
        assert y.tolist() == [[6.0, 6.0]] * 3
        assert w.tolist() == [[3.0, 3.0]] * 2
        assert z.tolist() == [[4.0, 4.0]] * 2
        y.sum().backward()
        assert w.grad.tolist() == [[3.0, 3.0]] * 2


def test_another_parameter_is_another_operand():
    """What was learned from one is right for others, of other values and shapes as well."""
    for n in (2, 2, 2, 2, 2, 5, 2, 2, 5, 5, 5):
        p = nn.Parameter(torch.full((n,), float(n)))
        with torch.pipeline():
            y = torch.ones(n) * p + p.detach()
            z = torch.ones(1).mul(p)
        assert y.tolist() == [2.0 * n] * n
        assert z.shape == (n,)


@pytest.mark.parametrize("through", [True, False])
@pytest.mark.parametrize("options", [{}, {"momentum": 0.9}, {"nesterov": True, "momentum": 0.9}])
def test_steps_of_an_optimizer(through, options):
    def run(blocks):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1, **options)

        def step(x):
            opt.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            opt.step()
            return loss.detach(), net[0].weight.detach().clone()

        found = []
        for i in range(8):
            x = torch.full((5, 3), 0.1 * i)
            if blocks:
                with torch.pipeline(through_backward=through):
                    found += step(x)
            else:
                found += step(x)
        return found

    assert all(map(torch.equal, run(True), run(False)))


def test_a_parameter_is_a_value_of_a_program():
    """It is none of the constants, which a compiler may keep."""
    from mindtorch_core.deferred.programs.describing import Description

    p, q = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    keys = []
    for each in (p, q):
        with torch.pipeline() as pipe:
            y = torch.ones(2) * each + 1
            found = Description(pipe.entries)
            assert [t is each for t in found.inputs] == [True]
            keys.append(found.key)
        del y
    assert keys[0] == keys[1]


@pytest.mark.parametrize("through", [True, False])
@pytest.mark.parametrize(
    "use",
    [
        lambda p: p.stride(),
        lambda p: p.detach(),
        lambda p: p.view(-1),
        lambda p: p * 2,
        lambda p: p.sum().item(),
    ],
    ids=["stride", "detach", "view", "mul", "item"],
)
def test_a_parameter_made_of_a_result_after_somebody_looked(through, use):
    with torch.pipeline(through_backward=through):
        made = torch.ones(2, 2) * 3
        p = nn.Parameter(made)
        copied = copy.deepcopy(p)
        assert made.sum().item() == 12
        found = [use(each) for each in (p, copied)]
    wanted = use(nn.Parameter(torch.full((2, 2), 3.0)))
    for each in found:
        assert torch.equal(each, wanted) if isinstance(each, torch.Tensor) else each == wanted
