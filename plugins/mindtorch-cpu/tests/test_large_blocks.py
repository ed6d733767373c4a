"""Large blocks that come again: what one kernel computes is replayed, what tiles serve better is planned.

One kernel computes a chain of element-wise ops, also with sums and maxima of rows between them. The bits are
those of the same calls outside.
"""

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import forget_sites
from mindtorch_cpu.native.kernels import KERNELS

pytestmark = pytest.mark.usefixtures("by_kernels")

SHAPE = (512, 520)
ROW = torch.linspace(0.5, 2, 520)


def adam(x, y):
    mean = x * 0.9 + y * 0.1
    square = x * x * 0.01 + y * y
    return x - 0.001 * mean / (square.sqrt() + 1e-8)


def softmax(x, y):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def layer_norm(x, y):
    n = 1.0 / x[0].numel() * x.shape[1] / x.shape[-1] if x.dim() > 2 else 1.0 / x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) * n
    variance = (centred * centred).sum(-1, keepdim=True) * n
    return centred * (variance + 1e-5).rsqrt() * ROW[: x.shape[-1]] + 1


def with_sums_seen(x, y):
    total = (x * y).sum(-1, keepdim=True)
    return torch.cat([x / total + y, total], -1)


CHAINS = {
    "numbers": lambda x, y: (x * 2 + 1).tanh(),
    "several operands": adam,
    "a row": lambda x, y: x * ROW + 1,
    "a column": lambda x, y: (x - y[:, :1].contiguous()) * 0.5,
    "in place": lambda x, y: (x + 1).mul_(y).add_(1),
}
ROWS = {
    "softmax": softmax,
    "layer norm": layer_norm,
    "sums seen": with_sums_seen,
    "least and greatest": lambda x, y: (
        (x - x.amin(-1, keepdim=True)) / (x.amax(-1, keepdim=True) - y.amin(-1, keepdim=True))
    ),
    "sum first": lambda x, y: x.sum(-1, keepdim=True) * y,
    "sum last": lambda x, y: ((x * 2 - y).tanh() + 1).sum(-1, keepdim=True),
    "last two dimensions": lambda x, y: x / (x * y).sum((-2, -1), keepdim=True),
    "two lengths of rows": lambda x, y: (
        x / (x.sum(-1, keepdim=True) + 1) + y.sum((-2, -1), keepdim=True)
    ),
    "without the dimension": lambda x, y: (x * 2).sum(-1).sqrt() + 1,
    "columns": lambda x, y: (x * 2 - y) / (x * y).sum(0, keepdim=True),
    "all": lambda x, y: (x * 2).sum() + x * y,
    "written meanwhile": lambda x, y: (x - x.sum(-1, keepdim=True)).mul_(2) * y,
}
SHAPES = [(512, 520), (16, 32, 520), (900, 63), (4096, 64), (4, 33000), (4, 20000), (70000, 2)]


def repeated(function, x, y):
    """What the fifth run of a block gives, and what the block did."""
    forget_sites()  # of other programs at this line: it has only a few
    for _ in range(5):
        with torch.pipeline() as pipe:
            found = function(x, y)
    return found, pipe.stats()


def operands(shape, dtype=torch.float32):
    torch.manual_seed(5)
    return torch.randn(shape).to(dtype), torch.rand(shape).to(dtype) + 0.5


def skip_unless_compiled():
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_that_one_kernel_computes_is_replayed(name):
    skip_unless_compiled()
    x, y = operands(SHAPE)
    found, stats = repeated(CHAINS[name], x, y)
    assert stats["replayed"] == stats["recorded"] > 1
    assert stats["fused_groups"] == 0
    assert found.tolist() == CHAINS[name](x, y).tolist()


@pytest.mark.parametrize("name", ["softmax", "layer norm", "sums seen", "sum first", "sum last"])
def test_rows_that_one_kernel_reduces_are_replayed(name):
    skip_unless_compiled()
    found, stats = repeated(ROWS[name], *operands(SHAPE))
    assert stats["replayed"] == stats["recorded"] > 1
    assert found.tolist() == ROWS[name](*operands(SHAPE)).tolist()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ROWS)
def test_rows_have_the_bits_of_calls_outside(name, shape):
    if name == "layer norm" and shape[-1] > len(ROW):
        pytest.skip("its weight has fewer elements")
    x, y = operands(shape)
    found, _ = repeated(ROWS[name], x, y)
    wanted = ROWS[name](x, y)
    assert found.stride() == wanted.stride()
    assert found.numpy().tobytes() == wanted.numpy().tobytes()


def test_operands_that_are_neither_rows_nor_columns():
    x, y = operands((16, 32, 520))
    for other in (torch.rand(32, 1), torch.rand(16, 1, 1), torch.rand(16, 1, 520)):

        def scaled(x, y, other=other):
            return (x * other).sum(-1, keepdim=True) * y + 1

        found, _ = repeated(scaled, x, y)
        assert found.numpy().tobytes() == scaled(x, y).numpy().tobytes()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["softmax", "sums seen", "least and greatest", "sum last"])
def test_other_dtypes(name, dtype):
    x, y = operands((300, 400), dtype)
    found, _ = repeated(ROWS[name], x, y)
    wanted = ROWS[name](x, y)
    assert found.dtype is wanted.dtype
    assert found.double().numpy().tobytes() == wanted.double().numpy().tobytes()


@pytest.mark.parametrize("name", ["softmax", "least and greatest", "sum last"])
def test_odd_values(name):
    x, y = operands(SHAPE)
    x[3, 5], x[4, :3], x[6, 7], x[8, 9] = torch.nan, torch.inf, -torch.inf, -0.0
    found, _ = repeated(ROWS[name], x, y)
    assert found.isnan().equal(ROWS[name](x, y).isnan())
    assert found.nan_to_num().equal(ROWS[name](x, y).nan_to_num())


def test_what_goes_on_in_tiles_is_planned():
    function = ROWS["all"]
    x, y = operands(SHAPE)
    found, stats = repeated(lambda x, y: function(x, y).where(x > 0, x * y + 1), x, y)
    assert stats["fused_groups"] >= 1
    assert found.equal(function(x, y).where(x > 0, x * y + 1))


def test_without_a_compiler_a_chain_is_planned(monkeypatch):
    monkeypatch.setattr(KERNELS, "mode", "off")
    x, y = operands(SHAPE)
    found, stats = repeated(lambda x, y: (x * 2 - y).tanh(), x, y)
    assert stats["fused_groups"] == 1
    assert stats["replayed"] == 0
    assert found.equal((x * 2 - y).tanh())
