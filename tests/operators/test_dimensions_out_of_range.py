"""Dimensions that are not there: each op that takes one refuses them in PyTorch's words, on meta too."""

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")

LINES = """
x.all(D) | x.any(D) | x.sum(D) | x.mean(D) | x.prod(D) | x.nansum(D) | x.nanmean(D) | x.std(D) | x.var(D)
x.amax(D) | x.amin(D) | x.aminmax(dim=D) | x.max(D) | x.min(D) | x.argmax(D) | x.argmin(D) | x.median(D)
x.nanmedian(D) | x.mode(D) | x.kthvalue(1, D) | x.topk(1, D) | x.sort(D) | x.sort(dim=D, stable=True) | x.argsort(D)
x.quantile(0.5, D) | x.nanquantile(0.5, D) | x.logsumexp(D) | x.softmax(D) | x.log_softmax(D) | x.norm(2, D)
x.cumsum(D) | x.cumprod(D) | x.cummax(D) | x.cummin(D) | x.logcumsumexp(D) | x.count_nonzero(D) | x.renorm(2, D, 1)
x.select(D, 0) | x.narrow(D, 0, 1) | x.split(1, D) | x.split([1, 1], D) | x.chunk(2, D) | x.unbind(D) | x.tensor_split(2, D)
x.unsafe_chunk(2, D) | x.unsafe_split(1, D) | x.squeeze(D) | x.unflatten(D, (1, -1)) | x.flatten(D) | x.flatten(0, D)
x.transpose(0, D) | x.transpose(D, 0) | x.swapaxes(D, 0) | x.movedim(D, 0) | x.movedim(0, D) | x.permute(0, D)
x.flip(D) | x.roll(1, D) | x.rot90(1, (0, D)) | x.diagonal(0, 0, D) | x.diagonal(0, D, 0) | x.diff(dim=D) | x.unfold(D, 1, 1)
x.gather(D, i) | x.scatter(D, i, x) | x.scatter(D, i, 1.0) | x.scatter_add(D, i, x) | x.scatter_reduce(D, i, x, "sum")
x.index_select(D, j) | x.index_add(D, j, x) | x.index_copy(D, j, x) | x.index_fill(D, j, 1.0) | x.index_reduce(D, j, x, "prod")
x.select_scatter(x[0], D, 0) | x.slice_scatter(x, D) | x.diagonal_scatter(x[0], 0, 0, D) | x.repeat_interleave(2, D)
x.size(D) | x.stride(D) | t.var_mean(x, D) | t.std_mean(x, D)
t.cat([x, x], D) | t.trapezoid(x, dim=D) | t.cumulative_trapezoid(x, dim=D) | t.cosine_similarity(x, x, D)
t.linalg.vector_norm(x, dim=D) | t.linalg.vecdot(x, x, dim=D) | t.linalg.norm(x, dim=D) | t.linalg.matrix_norm(x, dim=(0, D))
t.linalg.diagonal(x, dim1=0, dim2=D) | t.fft.fft(x, dim=D) | t.fft.rfft(x, dim=D) | t.fft.fftn(x, dim=(D,)) | t.fft.fftshift(x, D)
t.nn.functional.glu(x, D) | t.nn.functional.normalize(x, dim=D) | t.nn.functional.softmin(x, D) | t.tensordot(x, x, ([D], [0]))
t.unsqueeze(x, D + D // 2) | t.stack([x, x], D + D // 2) | t.diag_embed(x, 0, 0, D + D // 2) | t.take_along_dim(x, i, D)
"""
CALLS = [line.strip() for line in LINES.replace("\n", "|").split("|") if line.strip()]


def refused(lib, call, dim, device):
    """The type and the words of a refusal."""
    x, i = lib.ones(2, 3, device=device), lib.zeros(2, 3, dtype=lib.int64, device=device)
    scope = {"t": lib, "x": x, "i": i, "j": i[0, :2], "D": dim}
    try:
        found = eval(call, scope)
    except (IndexError, RuntimeError) as error:
        return type(error).__name__, str(error).partition("\n")[0]
    return found


@pytest.mark.parametrize("dim", [2, -3])
@pytest.mark.parametrize("call", CALLS)
def test_as_in_pytorch(call, dim):
    expected = refused(oracle, call, dim, "cpu")
    assert isinstance(expected, tuple), f"{call} takes {dim} in PyTorch"
    assert refused(torch, call, dim, "cpu") == expected
    assert refused(torch, call, dim, "meta") == expected


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    "call", ["x.sort(1)", "x.unbind()", "x.size(0)", "t.trapezoid(x)", "x.diff()"]
)
def test_of_a_number_as_in_pytorch(call, device):
    said = []
    for lib, place in ((torch, device), (oracle, "cpu")):
        scope = {"t": lib, "x": lib.ones((), device=place)}
        with pytest.raises((IndexError, RuntimeError)) as error:
            eval(call, scope)
        said.append((error.type.__name__, str(error.value)))
    assert said[0] == said[1]
