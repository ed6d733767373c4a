"""What the CPU's kernels refuse, compositions refuse too, on a device that has only the primitives."""

import warnings

import bare
import pytest

import mindtorch_core as torch
from mindtorch_core.testing import outcome

SHAPES = [
    (), (6,), (4, 4), (0,), (2, 4, 4), (1, 2, 4, 4), (0, 2, 4, 4), (2, 0, 4, 4), (2, 2, 4, 4, 4),
    (1, 1, 2, 4, 4, 4),
]  # fmt: skip
# Of an input of each shape.
FUNCTIONS = [
    *(f"{kind}{n}d(x, 2)" for kind in ("avg_pool", "max_pool", "adaptive_avg_pool") for n in (1, 2, 3)),
    *(f"adaptive_max_pool{n}d(x, 2)" for n in (1, 2, 3)),
    *(f"lp_pool{n}d(x, 2, 2)" for n in (1, 2)),
    *(f"dropout{n}d(x, 0.0)" for n in (1, 2, 3)),
    *(f"conv{n}d(x, ones({', '.join('2' * (n + 2))}))" for n in (1, 2, 3)),
    *(f"pad(x, (1, 1), '{mode}')" for mode in ("reflect", "replicate", "circular", "constant")),
    *(f"pad(x, (1, 1, 1, 1), '{mode}')" for mode in ("reflect", "replicate", "circular")),
    *(f"interpolate(x, scale_factor=2, mode='{mode}')" for mode in ("nearest", "linear", "bilinear")),
    "unfold(x, 2)", "fold(x, (4, 4), 2)", "pixel_shuffle(x, 2)", "pixel_unshuffle(x, 2)",
    "conv_transpose2d(x, ones(2, 2, 2, 2))", "batch_norm(x, None, None, training=True)",
    "instance_norm(x)", "group_norm(x, 1)", "layer_norm(x, (4,))", "local_response_norm(x, 2)",
    "channel_shuffle(x, 2)", "grid_sample(x, zeros(1, 2, 2, 2))", "glu(x)", "bilinear(x, x, ones(3, 4, 4))",
    "nll_loss(x, zeros(2, dtype=int64))", "cross_entropy(x, zeros(2, dtype=int64))", "pdist(x)",
    "multi_margin_loss(x, zeros(2, dtype=int64))", "cosine_similarity(x, x)", "pairwise_distance(x, x)",
    "ctc_loss(x, ones(2, 2, dtype=int64), tensor([1, 1]), tensor([1, 1]))", "log_softmax(x, 1)",
    "embedding(zeros(2, dtype=int64), x)", "linear(x, ones(3, 4))", "normalize(x)",
]  # fmt: skip
# Of `x`, of 2 rows of 3 elements.
VALUES = """
x.repeat_interleave(tensor([-1, 1]), 0)|x.repeat_interleave(tensor([1, 2, 3]), 0)
x.repeat_interleave(tensor([1.0, 2.0]), 0)|x.repeat_interleave(tensor([[1, 2]]), 0)
repeat_interleave(tensor([-1, 2]))|repeat_interleave(tensor([1, 2]), output_size=5)|x.repeat(-1, 2)|x.repeat(2)
x.tile((-1,))|x.roll((1, 2), (0,))|x.rot90(1, (0, 0))|x.flip((0, 0))|x.unfold(0, 9, 1)|x.unfold(0, 1, 0)|x.chunk(0)
x.split(-1)|x.split([1, 2])|x.tensor_split(0)|x.narrow(0, 1, 5)|x.select(0, 7)|x.index_select(0, tensor([5]))
x.index_select(0, tensor([0.5]))|x.index_select(0, tensor([[0]]))|x.gather(0, tensor([[5]]))|x.gather(0, tensor([0]))
x.gather(0, tensor([[0.0]]))|x.scatter(0, tensor([[5]]), 1.0)|x.scatter_add(0, tensor([[0]]), x.double())
x.scatter(0, tensor([[0]]), x, reduce="max")|x.scatter_reduce(0, tensor([[0]]), x, "median")
x.index_add(0, tensor([0, 9]), x)|x.index_add(0, tensor([0]), x)|x.index_copy(0, tensor([0]), x)
x.index_fill(0, tensor([7]), 1.0)|x.index_reduce(0, tensor([0]), x, "prod")|x.masked_scatter(x > -1, ones(1))
x.masked_fill(x, 1.0)|x.take(tensor([99]))|x.put(tensor([99]), ones(1))|x.cumsum(5)|x.logcumsumexp(5)|x.cummax(5)
x.kthvalue(9)|x.kthvalue(0)|x.topk(9)|x.sort(5)|x.median(5)|x.mode(5)|x.quantile(2.0)|x.quantile(0.5, 5)|x.histc(0)
x.histc(5, 3, 1)|x.bincount()|tensor([-1]).bincount()|x.renorm(2, 5, 1.0)|x.renorm(-1, 0, 1.0)|x.norm(dim=5)|x.var(5)
x[0].trace()|x.matrix_power(2)|x.det()|x.inverse()|linalg.cholesky(x)|linalg.solve(x, x)|linalg.eigh(x)|linalg.qr(x[0])
linalg.svd(x[0])|linalg.lstsq(x[0], x[0])|linalg.cross(x, x[:, :2])|x.dot(x)|x[0].dot(x[0, :2])|x.mm(x)|x.bmm(x)
x.mv(x[0, :2])|x.addmm(x, x)|x.baddbmm(x, x)|x.ger(x)|einsum("ij,jk", x, x)|einsum("ij,", x)|tensordot(x, x[:1], 2)
cdist(x, x[:, :2])|cat([x, x[0]])|stack([x, x[0]])|where(x > 0, x, x[:, :2])|x.view(7)|x.reshape(7)
x.unflatten(0, (3, 5))|x.squeeze(5)|x.transpose(0, 5)|x.permute(0, 0)|x.movedim(0, 5)|x.expand(3, 4)
x.as_strided((9, 9), (9, 1))|x.clamp()|x.bernoulli(2.0)|x.multinomial(9)|(-x).multinomial(1)|(x * 0).multinomial(1)
x.bitwise_and(x)|tensor([1]) // tensor([0])|tensor([1]).remainder(0)|tensor([1]).fmod(0)|tensor([2]) ** -1
x.div(2, rounding_mode="up")|x.lerp(x.double(), 0.5)|x + ones(2, 2)|x.add_(ones(3, 2, 3))|x.argmax(5)|zeros(0).argmax()
zeros(0).max()|zeros(2, 0).amax(1)|x.amax((0, 0))|x.prod(5)|x.cumprod(5)|x.diff(0, 5)|x.diff(-1)|x.gradient(spacing=[])
x.unfold(1, 2, -1)|x.triu(9)|x.diagonal(0, 0, 0)|x.diag_embed(0, 0, 0)|x.vander|x.polygamma(-1)|linspace(0, 1, -1)
arange(0, 5, -1)|arange(0, 5, 0)|logspace(0, 1, -2)|eye(-1)|full((-1,), 1.0)|rand(-1)|randint(5, 5, (2,))|randperm(-1)
x.bernoulli(-0.5)|x.uniform_(2, 1)|x.normal_(0, -1)|x.exponential_(-1)|x.geometric_(2)|x.cauchy_(0, -1)|x.random_(5, 5)
x.sum(5)|x.mean((0, 5))|x.std(5)|x.any(5)|x.logsumexp(5)|x.softmax(5)|x.flatten(1, 0)|x.unbind(5)|x.long().mean()
x.bool().sub(x.bool())|x.complex()|x.view(int64)|x.view_as(ones(7))|x.addr(x, x)|x.outer(x)|x.inner(ones(2))|x.kron
searchsorted(x, ones(3, 1))|bucketize(x, x)|x.unique(dim=5)|x.nanmedian(5)|x.fill_(ones(2))|x.copy_(ones(5))
x.histogram(0)|combinations(x)|cartesian_prod(x)|block_diag(ones(1, 1, 1))|tril_indices(-1, 2)|meshgrid(x, x)
""".replace("\n", "|").split("|")  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory):
    with bare.loaded(tmp_path_factory.mktemp("bare")):
        yield


def found(text, device, shape):
    """What a text gives on a device: the shape, or the class of the error."""

    def run():
        with torch.device(device), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            x = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
            return eval(text, {**vars(torch), "F": torch.nn.functional, "x": x})

    made = outcome(run)
    if isinstance(made, IndexError):
        return IndexError  # NumPy has one that is besides something else
    if isinstance(made, Exception):
        return type(made)
    return getattr(made, "shape", None)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_of_inputs_of_each_rank(function):
    differing = {
        shape: pair
        for shape in SHAPES
        if len({*(pair := [found(f"F.{function}", d, shape) for d in ("cpu", "bare")])}) > 1
    }
    assert not differing


@pytest.mark.parametrize("call", [c for c in VALUES if c])
def test_of_values_that_do_not_fit(call):
    assert found(call, "bare", (2, 3)) == found(call, "cpu", (2, 3))
