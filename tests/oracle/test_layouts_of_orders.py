"""How results of flips and sorts lie in memory: as PyTorch's, in the order that the operand has."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

LAYOUTS = {
    "rows": lambda b: b,
    "channels last": lambda b: b.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
    "transposed": lambda b: b.transpose(1, 2),
    "permuted": lambda b: b.permute(3, 0, 2, 1),
    "with gaps": lambda b: b[0, 0][::2, ::2].t(),
    "expanded": lambda b: b[:, :1].expand(2, 3, 4, 5),
    "one of some": lambda b: b[:1, :1].transpose(0, 3),
    "a part": lambda b: b[:, 1:, 1:],
    "nothing": lambda b: b[:, :0],
    "nothing, transposed": lambda b: b[:, :, :0].transpose(1, 2),
    "nothing of channels last": lambda b: (
        b.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)[:0]
    ),
}
OPS = {
    "flip": lambda lib, x, dim: [x.flip(dim), x.flip(0, 1), x.flip(())],
    "rot90": lambda lib, x, dim: [lib.rot90(x)],
    "sort": lambda lib, x, dim: [*x.sort(dim), *x.sort(dim=dim, stable=True, descending=True)],
    "argsort": lambda lib, x, dim: [x.argsort(dim), lib.msort(x)],
    "kthvalue": lambda lib, x, dim: [*x.kthvalue(1, dim), *x.kthvalue(1, dim, True)],
    "topk": lambda lib, x, dim: [*x.topk(1, dim)],
    "median": lambda lib, x, dim: [*x.median(dim), *x.nanmedian(dim)],
    "mode": lambda lib, x, dim: [*x.mode(dim)],
    "roll": lambda lib, x, dim: [
        x.roll(1, dim),
        x.roll(-2),
        x.roll((1, 2), (dim, 0)),
        x.roll(0, dim),
    ],
    "cat": lambda lib, x, dim: [lib.cat([x, x], dim), lib.cat([x, x.contiguous()], dim)],
    "unique": lambda lib, x, dim: [x.unique(dim=dim), x.unique_consecutive(dim=dim)],
}
OF_NOTHING = ["flip", "rot90", "sort", "argsort", "roll", "cat"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("deferred", [False, True], ids=["eager", "pipeline"])
def test_results_lie_as_in_pytorch(name, layout, deferred):
    base = LAYOUTS[layout](pt.arange(120.0).reshape(2, 3, 4, 5))
    own = LAYOUTS[layout](torch.arange(120.0).reshape(2, 3, 4, 5))
    for dim in range(base.dim()):
        if not base.numel() and name not in OF_NOTHING:
            continue
        wanted = OPS[name](pt, base, dim)
        values = OPS[name](pt, base.contiguous(), dim)  # median errs where elements share memory
        if deferred:
            with torch.pipeline():
                found = OPS[name](torch, own, dim)
                strides = [t.stride() for t in found]
        else:
            found = OPS[name](torch, own, dim)
            strides = [t.stride() for t in found]
        assert strides == [t.stride() for t in found] == [t.stride() for t in wanted]
        for a, b in zip(found, values, strict=True):
            if a.is_floating_point():  # of equal elements PyTorch may choose any
                assert a.tolist() == b.tolist()
