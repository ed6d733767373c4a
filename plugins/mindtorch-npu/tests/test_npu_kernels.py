"""Kernels: what is launched, on which tensors, and what it gives where conformance does not look."""

import itertools
import math

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F
import mindtorch_npu.ops as ops
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_npu import aclnn


@pytest.fixture(autouse=True)
def _no_fallback(monkeypatch):
    monkeypatch.setenv("MINDTORCH_NPU_FALLBACK", "error")


def matrix(rows=4, columns=3, **options):
    return torch.arange(float(rows * columns), **options).reshape(rows, columns) - 5


# ---- tables --------------------------------------------------------------------------------------


def test_every_primitive_has_a_kernel(npu):
    missing = [
        entry.name
        for entry in registry
        if entry.definition is not None
        and entry.definition.traits.primitive
        and DispatchKey.NPU not in entry.kernels
    ]
    assert missing == []


def test_tables_name_ops_and_operators_that_exist(npu):
    registry.on_demand.define_all()
    for name in (*ops.STEPS, *ops.KERNELS):
        assert registry.known(name) is not None, name


def test_steps_launch_nothing(npu, simulator):
    x, y = matrix(device="npu"), matrix(device="npu")
    npu.synchronize()
    simulator.reset()
    result, calls = ops.STEPS["aten::add"](x, y, alpha=2)
    assert simulator.counters()["launches"] == 0
    assert [name for name, _ in calls] == ["Add"]
    assert calls[0][1][-1] is result
    for name, arguments in calls:
        aclnn.call(name, *arguments)
    assert result.tolist() == (matrix() + matrix() * 2).tolist()


# ---- numbers and dtypes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "operator"),
    [
        (lambda x: x + 1.5, "Adds"),
        (lambda x: x - 2, "Subs"),
        (lambda x: x * 0.5, "Muls"),
        (lambda x: x / 4, "Divs"),
        (lambda x: x // 2, "FloorDivides"),
        (lambda x: x % 3, "RemainderTensorScalar"),
        (lambda x: x**2, "PowTensorScalar"),
        (lambda x: x > 1, "GtScalar"),
        (lambda x: x == 1, "EqScalar"),
        (lambda x: x.clone().mul_(3), "InplaceMuls"),
        (lambda x: x.clamp(-1, 2), "Clamp"),
    ],
)
def test_numbers_take_the_scalar_operators(launched, function, operator):
    x = matrix(device="npu")
    found, names, waits = launched(lambda: function(x))
    assert names.keys() - {"InplaceCopy"} == {operator}
    assert waits == 0
    torch.testing.assert_close(found.cpu(), function(matrix()))


def test_no_number_is_copied_from_the_host(npu, simulator):
    x = torch.ones(3, device="npu")
    npu.synchronize()
    simulator.reset()
    y = torch.where(x > 0, x * 2 + 1, 0.5).masked_fill(x < 0, 3.0).pow(2)
    assert simulator.counters()["copies"] == 0
    assert y.tolist() == [9.0] * 3


NUMBERS = (True, 3, 2.5, -1, 300, 1e10, math.inf, math.nan)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64"],
)
def test_numbers_promote_as_on_the_cpu(npu, dtype):
    host = torch.tensor([0, 1, 2]).to(getattr(torch, dtype))
    functions = (lambda t, n: t + n, lambda t, n: t * n, lambda t, n: t < n)
    for function, number in itertools.product(functions, NUMBERS):
        try:
            wanted = function(host, number)
        except (RuntimeError, OverflowError) as error:
            with pytest.raises(type(error)):
                function(host.to("npu"), number)
            continue
        found = function(host.to("npu"), number)
        assert found.dtype is wanted.dtype
        torch.testing.assert_close(found.cpu(), wanted, equal_nan=True)


@pytest.mark.parametrize("number", [-1, 300, -300])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("op", ["remainder", "remainder_", "fmod", "floor_divide", "lt", "maximum"])
def test_numbers_wrap_around_before_operators_of_wider_dtypes_get_them(npu, op, dtype, number):
    values = torch.tensor([0, 1, 5, 100]).to(getattr(torch, dtype))
    other = torch.tensor(number) if op == "maximum" else number
    expected = getattr(values.clone(), op)(other)
    assert torch.equal(getattr(values.to("npu"), op)(other).cpu(), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32"])
def test_zero_dimensional_cpu_tensors_may_accompany(npu, dtype):
    host = torch.tensor([1, 2, 3]).to(getattr(torch, dtype))
    functions = (lambda a, b: a + b, lambda a, b: b * a, lambda a, b: torch.where(a > 1, a, b))
    others = "int64", "float32", "float64", "bool"
    for function, other in itertools.product(functions, others):
        value = torch.tensor(1).to(getattr(torch, other))
        found, wanted = function(host.to("npu"), value), function(host, value)
        assert (found.device.type, found.dtype) == ("npu", wanted.dtype)
        assert found.tolist() == wanted.tolist()


def test_negative_zero_stays_negative(npu):
    for made in (
        torch.full((2,), -0.0, device="npu"),
        torch.ones(2, device="npu").fill_(-0.0),
        torch.ones(2, device="npu") * -0.0,
        torch.where(torch.ones(2, dtype=torch.bool, device="npu"), -0.0, 1.0),
    ):
        assert made.signbit().tolist() == [True, True]
    assert torch.zeros(2, device="npu").signbit().tolist() == [False, False]


def test_other_cpu_tensors_may_not(npu):
    with pytest.raises(RuntimeError, match="cpu and npu:0"):
        torch.ones(3, device="npu") + torch.ones(3)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_integers_are_widened_where_no_operator_takes_them(launched, dtype):
    host = torch.tensor([-7, 7, 3, 5]).to(getattr(torch, dtype))
    x = host.to("npu")
    found, names, _ = launched(lambda: x % 4)
    assert "RemainderTensorScalar" in names
    assert found.dtype is host.dtype
    assert found.tolist() == (host % 4).tolist()


@pytest.mark.parametrize("by", [torch.tensor([2, 3, -4]), torch.tensor([0.5, -2, 3]), 4])
def test_whole_numbers_are_divided_as_floats_on_the_device(launched, by):
    host = torch.tensor([-7, 7, 3])
    x, there = host.to("npu"), by.to("npu") if isinstance(by, torch.Tensor) else by
    found, names, waits = launched(lambda: x / there)
    assert {name for name in names if name.startswith("Div")}
    assert waits == 0
    torch.testing.assert_close(found.cpu(), host / by)


def test_whole_numbers_divided_by_zero_do_not_raise(npu):
    x = torch.tensor([1, -2], device="npu")
    assert (x // torch.zeros_like(x)).shape == (2,)  # no error, and no particular value
    npu.synchronize()


def test_quotients_of_halves_are_rounded_before_they_are_cut(npu):
    a, b = torch.tensor([255.0, 2047.0]).bfloat16(), torch.tensor([0.9961, 3.0]).bfloat16()
    wanted = torch.div(a, b, rounding_mode="trunc")
    found = torch.div(a.to("npu"), b.to("npu"), rounding_mode="trunc")
    assert found.tolist() == wanted.tolist()
    written = a.to("npu").div_(b.to("npu"), rounding_mode="trunc")
    assert written.tolist() == wanted.tolist()
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(2, dtype=torch.int32, device="npu").div_(2)
    with pytest.raises(RuntimeError, match="rounding_mode"):
        torch.div(found, 2, rounding_mode="up")


# ---- layouts -------------------------------------------------------------------------------------


def views():
    base = torch.arange(120.0).reshape(2, 3, 4, 5) - 60
    return {
        "transposed": lambda t: t.permute(3, 1, 0, 2),
        "strided": lambda t: t[:, ::2, 1::2, ::3],
        "odd offset": lambda t: t.reshape(-1)[7:67].reshape(3, 20),
        "expanded": lambda t: t[0, 0, 0].expand(4, 5),
        "0d": lambda t: t[1, 2, 3, 4],
        "empty": lambda t: t[:, :0],
        "narrow column": lambda t: t[..., 3],
    }, base


@pytest.mark.parametrize("name", views()[0])
def test_views_are_passed_as_they_lie(npu, name):
    make, base = views()[0][name], views()[1]
    host, there = make(base), make(base.to("npu"))
    for function in (
        lambda t: t + 1,
        lambda t: t.exp2(),
        lambda t: t.sum(),
        lambda t: t.clone(),
        lambda t: t.to(torch.int32),
        lambda t: t.contiguous(),
        lambda t: t.abs().sqrt(),
        lambda t: t.softmax(-1),
        lambda t: t.relu(),
        lambda t: torch.cat([t.reshape(-1), t.reshape(-1)]),
    ):
        wanted, found = function(host), function(there)
        assert found.stride() == wanted.stride() or not wanted.numel()
        torch.testing.assert_close(found.cpu(), wanted)


@pytest.mark.parametrize("name", [n for n in views()[0] if n != "expanded"])
def test_views_are_written_in_place(npu, name):
    make, base = views()[0][name], views()[1]
    for function in (
        lambda t: t.add_(1),
        lambda t: t.mul_(t),
        lambda t: t.fill_(3),
        lambda t: t.zero_(),
        lambda t: t.copy_(t.clone() * 2),
        lambda t: t.clamp_(min=0),
        lambda t: t.masked_fill_(t > 0, 7.0),
        lambda t: t.floor_divide_(4),
    ):
        host, there = base.clone(), base.to("npu")
        function(make(host))
        function(make(there))
        torch.testing.assert_close(there.cpu(), host)


def test_more_dimensions_than_descriptors_hold(npu):
    host = torch.arange(2.0**11).reshape([2] * 11)
    order = [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 10]
    there = host.to("npu").permute(order)
    assert there.cpu().equal(host.permute(order))
    assert there.contiguous().cpu().equal(host.permute(order))
    target = torch.zeros([2] * 11, device="npu")
    target.permute(order).copy_(there)
    assert target.cpu().equal(host)


def test_ops_of_many_dimensions_are_left_to_the_cpu(npu, monkeypatch):
    monkeypatch.setenv("MINDTORCH_NPU_FALLBACK", "silent")
    host = torch.arange(2.0**10).reshape([2] * 10)
    found = (host.to("npu") + 1).sum(3)
    assert found.cpu().equal((host + 1).sum(3))


def test_channels_last_is_kept(npu):
    host = torch.arange(120.0).reshape(2, 3, 4, 5)
    wanted = host.clone(memory_format=torch.channels_last)
    found = host.to("npu").clone(memory_format=torch.channels_last)
    assert (found + 1).stride() == (wanted + 1).stride() == (60, 1, 15, 3)
    assert (found * 2).cpu().equal(wanted * 2)


# ---- copies --------------------------------------------------------------------------------------


CONVERTED = ("float16", "float32", "float64", "int8", "int64", "bool")


@pytest.mark.parametrize("source", CONVERTED)
def test_copies_convert(npu, source):
    host = torch.tensor([[0, 1, -3], [2, 0, 100]]).to(getattr(torch, source))
    for d in (getattr(torch, target) for target in CONVERTED):
        wanted = host.to(d)
        for found in (
            host.to("npu").to(d),
            host.to("npu", d),
            torch.zeros(2, 3, dtype=d, device="npu").copy_(host),
            torch.zeros(2, 3, dtype=d).copy_(host.to("npu")),
            torch.zeros(3, 2, dtype=d, device="npu").t().copy_(host, non_blocking=True),
        ):
            assert found.dtype is d
            assert found.tolist() == wanted.tolist()


def test_between_devices(npu):
    host = matrix()
    first, second = host.to("npu:0"), host.to("npu:1")
    assert first.to("npu:1").device.index == 1
    assert second.t().to("npu:0").cpu().equal(host.t())
    first.copy_(second * 2)
    assert first.cpu().equal(host * 2)
    second[1:].copy_(first[:-1].to(torch.float64))
    assert second.cpu()[1:].equal(host[:-1] * 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a + b,
        lambda a, b: a @ b.t(),
        lambda a, b: torch.where(a > 0, a, b),
        lambda a, b: torch.cat([a, b]),
        lambda a, b: a.add_(b),
        lambda a, b: a.gather(1, b.long()),
        lambda a, b: F.linear(a, b),
    ],
)
def test_operands_on_two_devices_are_refused(npu, function):
    with pytest.raises(
        RuntimeError, match="same device, but found at least two devices, npu:0 and npu:1"
    ):
        function(matrix(device="npu:0"), matrix(device="npu:1"))


def test_indices_may_live_on_the_cpu(npu):
    x = matrix(device="npu:1")
    index = torch.tensor([2, 0])
    assert x[index].cpu().equal(matrix()[index])
    assert x[index].device.index == 1
    x[index] = torch.zeros(3)
    assert x.cpu()[index].abs().sum().item() == 0


# ---- waiting -------------------------------------------------------------------------------------


def step(x, w, target):
    w = w.clone().requires_grad_()
    hidden = F.layer_norm((x @ w).relu(), (4,))
    loss = F.cross_entropy(hidden, target) + hidden.square().mean() + hidden.softmax(1).amax()
    loss.backward()
    with torch.no_grad():
        w.sub_(w.grad, alpha=0.1)
    return loss.detach()


def test_a_training_step_does_not_wait(launched):
    x, w = torch.ones(5, 3, device="npu"), matrix(3, 4, device="npu")
    target = torch.tensor([0, 1, 2, 3, 0], device="npu")
    loss, names, waits = launched(lambda: step(x, w, target))
    assert waits == 0
    assert sum(names.values()) < 80
    wanted = step(x.cpu(), w.cpu(), target.cpu())
    torch.testing.assert_close(loss.cpu(), wanted)


@pytest.mark.parametrize(
    ("function", "most"),
    [
        (lambda x: F.gelu(x), 1),
        (lambda x: x.softmax(1), 1),
        (lambda x: F.linear(x, x, x[:, 0]), 1),
        (lambda x: x.mean(), 1),
        (lambda x: x.var(0), 1),
        (lambda x: x.max(1).values, 1),
        (lambda x: x.topk(2).values, 1),
        (lambda x: x.logsumexp(1), 1),
        (lambda x: F.layer_norm(x, (3,)), 1),
        (lambda x: torch.stack([x, x]), 1),
        (lambda x: torch.eye(3, device="npu"), 1),
        (lambda x: x.gather(1, (x > 0).long()), 3),
        (lambda x: F.max_pool2d(x[None, None], 2), 3),
        (lambda x: F.one_hot((x > 0).long(), 3), 5),
    ],
)
def test_one_operator_where_there_is_one(launched, function, most):
    x = matrix(3, 3, device="npu")
    _, names, waits = launched(lambda: function(x))
    assert sum(names.values()) <= most, names
    assert waits == 0


def test_only_sizes_that_depend_on_data_wait(launched):
    x = matrix(device="npu")
    found, _, waits = launched(lambda: x[x > 0])
    assert waits == 1
    assert found.cpu().equal(matrix()[matrix() > 0])


def test_positions_out_of_range_are_found_by_the_device(npu):
    x = torch.ones(3, device="npu")
    x.index_select(0, torch.tensor([5], device="npu"))
    with pytest.raises(RuntimeError, match="aclrtSynchronizeStream"):
        npu.synchronize()
    assert (x + 1).tolist() == [2.0, 2.0, 2.0]


# ---- random numbers ------------------------------------------------------------------------------

DRAWS = {
    "rand": lambda: torch.rand(50, device="npu"),
    "randn": lambda: torch.randn(50, device="npu"),
    "randint": lambda: torch.randint(-3, 9, (50,), device="npu"),
    "random_": lambda: torch.empty(50, dtype=torch.int32, device="npu").random_(),
    "bernoulli": lambda: torch.bernoulli(torch.full((50,), 0.4, device="npu")),
    "bernoulli_": lambda: torch.empty(50, device="npu").bernoulli_(0.3),
    "randperm": lambda: torch.randperm(50, device="npu"),
    "dropout": lambda: F.dropout(torch.ones(50, device="npu"), 0.4),
    "half": lambda: torch.rand(50, dtype=torch.float16, device="npu"),
}


@pytest.mark.parametrize("name", DRAWS)
def test_seeds(npu, name):
    draw = DRAWS[name]
    torch.manual_seed(7)
    first, second = draw().tolist(), draw().tolist()
    assert first != second
    torch.manual_seed(7)
    assert (draw().tolist(), draw().tolist()) == (first, second)
    torch.npu.manual_seed_all(7)
    with torch.pipeline():
        deferred = draw(), draw()
    assert [t.tolist() for t in deferred] == [first, second]
    state = torch.npu.get_rng_state()
    again = draw().tolist()
    torch.npu.set_rng_state(state)
    assert draw().tolist() == again


def test_seeds_of_64_bits(npu):
    torch.manual_seed((1 << 64) - 5)
    numbers = [DRAWS[name]().tolist() for name in ("rand", "randn", "randint", "randperm")]
    torch.manual_seed((1 << 64) - 5)
    assert numbers == [DRAWS[name]().tolist() for name in ("rand", "randn", "randint", "randperm")]


def test_generators_are_apart(npu):
    generator = torch.Generator(device="npu").manual_seed(3)
    mine = torch.rand(5, device="npu", generator=generator).tolist()
    torch.manual_seed(3)
    assert torch.rand(5, device="npu").tolist() == mine
    with pytest.raises(RuntimeError, match=r"npu:0.*cpu"):
        torch.empty(3, device="npu").uniform_(generator=torch.Generator())


def test_distributions(npu):
    torch.manual_seed(0)
    n = 20000
    uniform = torch.empty(n, device="npu").uniform_(-2, 4).cpu()
    assert -2 <= uniform.min().item() < -1.9
    assert 3.9 < uniform.max().item() < 4
    assert abs(uniform.mean().item() - 1) < 0.06
    normal = torch.empty(n, device="npu").normal_(3, 2).cpu()
    assert abs(normal.mean().item() - 3) < 0.06
    assert abs(normal.std().item() - 2) < 0.06
    assert abs(torch.empty(n, device="npu").bernoulli_(0.3).mean().item() - 0.3) < 0.02
    assert sorted(torch.randperm(100, device="npu").tolist()) == list(range(100))
    assert set(torch.randint(2, 5, (n,), device="npu").tolist()) == {2, 3, 4}


# ---- printing ------------------------------------------------------------------------------------


def test_printing_and_leaving(npu):
    x = matrix(2, 2, device="npu")
    assert str(x) == "tensor([[-5., -4.],\n        [-3., -2.]], device='npu:0')"
    assert x.tolist() == [[-5.0, -4.0], [-3.0, -2.0]]
    assert x[1, 0].item() == -3.0
    assert bool(x[1, 0] < 0)
    assert x.cpu().device.type == "cpu"
    assert x.cpu().npu().device == x.device
    assert x.npu(1).device.index == 1
    assert x.npu() is x
