"""`torch.vmap` against PyTorch: results, errors, and which ops are slow."""

import importlib

import pytest
from outcomes import outcome

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def names(lib):
    x = lib.arange(12.0).reshape(3, 4)
    func = importlib.import_module(f"{lib.__name__}.func")
    return {
        "torch": lib, "F": lib.nn.functional, "vmap": func.vmap, "x": x, "y": lib.arange(4.0),
        "m": lib.arange(24.0).reshape(3, 2, 4), "i": lib.tensor([0, 2, 1]),
    }  # fmt: skip


PROGRAMS = [
    "vmap(lambda a: a+1)(x)",
    "vmap(lambda a: (a*y).sum())(x)",
    "vmap(torch.dot,in_dims=(0,None))(x,y)",
    "vmap(lambda a: a.mean(-1,keepdim=True))(x)",
    "vmap(lambda a,b: a@b, in_dims=(None,0))(m,x)",
    "vmap(lambda a: a.view(2,2).t().flatten())(x)",
    "vmap(lambda a: F.softmax(a,-1),in_dims=1,out_dims=1)(x)",
    "vmap(lambda k: y[k])(i)",
    "vmap(lambda r,k: r[k])(x,i)",
    "vmap(lambda q: vmap(lambda k: (q>=k)&(y[k]>0))(torch.arange(4)))(torch.arange(3))",
    "vmap(lambda a: torch.cat([a,y]))(x)",
    "vmap(lambda a: torch.stack([a,a],-1))(x)",
    "vmap(lambda a: a.max(0))(m)[0]",
    "vmap(lambda a: a.max())(m)",
    "vmap(lambda a: torch.where(a>3,a,torch.zeros(())))(x)",
    "vmap(lambda a: F.linear(a,torch.ones(2,4)))(x)",
    "vmap(lambda a: F.layer_norm(a,(4,)))(x)",
    "vmap(lambda a: a.std())(x)",
    "vmap(lambda a: a.cumsum(0))(x)",
    "vmap(lambda a: a.sort(descending=True)[0])(x)",
    "vmap(lambda a: torch.einsum('ij,kj->ik',a,a))(m)",
    "vmap(lambda a: a.new_zeros(2)+a[0])(x)",
    "vmap(lambda a: a.unsqueeze(0).expand(2,4))(x)",
    "vmap(lambda a: torch.outer(a,a))(x)",
    "vmap(lambda a,b: F.mse_loss(a,b))(x,x+1)",
    "vmap(lambda a: torch.histc(a,2,0,12))(x)",
    "vmap(lambda a: F.gelu(a).norm())(x)",
    "vmap(lambda a: a.argmax())(x)",
    "vmap(lambda a: (a>2).any())(x)",
    "vmap(lambda a: F.conv2d(a.view(1,1,2,4),torch.ones(1,1,2,2)))(m)",
    "vmap(lambda a:a.item())(x)",
    "vmap(lambda a: torch.rand(2)+a[0])(x)",
    "vmap(lambda a: torch.rand(2)+a[0]*0,randomness='same')(x).std(0)",
    "vmap(lambda a: (torch.rand(2)+a[0]*0),randomness='different')(x).shape",
    "vmap(lambda a: a.to(torch.float64))(x).dtype",
    "vmap(lambda a,b: a if b>0 else b)(x,x)",
    "vmap(lambda a: a+1,in_dims=5)(x)",
    "vmap(lambda: 1)()",
    "vmap(lambda a: 1)(x)",
    "vmap(lambda a,b:a+b)(x,y)",
    "vmap(lambda a: a*2, chunk_size=2)(x)",
    "vmap(lambda d: d['a']+1)({'a':x})",
    "vmap(lambda a: a[1:3])(x)",
    "vmap(lambda a: a[...,None])(x)",
    "vmap(lambda a: a[:, i[:2]])(m)",
    "vmap(lambda a,k: a[:, k])(m,i)",
    "vmap(lambda a: torch.clamp(a,1,5))(x)",
    "vmap(lambda a: a.shape[0]+a)(x)",
    "vmap(lambda a: F.cross_entropy(a,torch.tensor(1)))(x)",
    "vmap(lambda a,b:F.cross_entropy(a,b))(m,torch.zeros(3,2,dtype=torch.long))",
    "vmap(lambda a: a.gather(0,torch.tensor([1,0])))(x)",
    "vmap(lambda a: torch.linalg.inv(a@a.T+torch.eye(2)))(m)",
    "vmap(lambda a: F.embedding(a, m[0]),in_dims=0)(torch.tensor([[0,1],[1,1]]))",
    "vmap(lambda a: a.add_(1))(x.clone())",
    "vmap(lambda a: y.clone().add_(a))(x)",
    "vmap(lambda a: a.tolist())(x)",
    "vmap(lambda a: torch.diagonal(a,0,0,1))(m)",
    "vmap(lambda a: a.prod())(x)",
    "vmap(lambda a:a.logsumexp(0))(x)",
    "vmap(lambda a: a.split(2))(x)",
    "vmap(lambda a: a.repeat(2))(x)",
    "vmap(lambda a: list(a))(x)",
    "vmap(lambda a: a.dim()*a)(x)",
    "vmap(lambda a: F.dropout(a,0.5,False))(x)",
    "vmap(lambda a: a.masked_fill(a>2,0.))(x)",
    "vmap(lambda a: a.flip(0))(x)",
    "vmap(lambda a: a.roll(1,0))(x)",
    "vmap(lambda a: a.int()+2.5)(x)",
    "vmap(lambda a: a.sum().int()+torch.ones(2))(x)",
    "vmap(lambda a: torch.nn.functional.scaled_dot_product_attention(a,a,a))(m)",
    "vmap(lambda a: a.topk(2)[0])(x)",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_pytorch(program):
    assert outcome(program, names(torch)) == outcome(program, names(pt))


def test_texts_of_errors():
    def text(lib, call):
        with pytest.raises((ValueError, RuntimeError)) as caught:
            call(lib, importlib.import_module(f"{lib.__name__}.func").vmap)
        return str(caught.value)[:40]

    for call in (
        lambda lib, vmap: vmap(lambda a: a, in_dims=5)(lib.ones(2)),
        lambda lib, vmap: vmap(lambda: 1)(),
        lambda lib, vmap: vmap(lambda a: a.item())(lib.ones(2)),
        lambda lib, vmap: vmap(lambda a: lib.rand(2))(lib.ones(2)),
        lambda lib, vmap: vmap(lambda a: a, randomness="no")(lib.ones(2)),
        lambda lib, vmap: vmap(lambda a: a, chunk_size=0)(lib.ones(2)),
        lambda lib, vmap: vmap(lambda a, b: a)(lib.ones(2), lib.ones(3)),
    ):
        assert text(torch, call) == text(pt, call)


def test_masks_as_transformers_make_them():
    """Four levels, with indices of each, a mask that is padded, and one that slides."""
    for lib in (torch, pt):
        vmap = lib.vmap
        padding = lib.tensor([[1, 1, 0], [1, 1, 1]]).bool()

        def allowed(b, h, q, kv, padding=padding):
            return (kv <= q) & (kv > q - 2) & padding[b, kv]

        made = allowed
        for dims in (
            (None, None, None, 0),
            (None, None, 0, None),
            (None, 0, None, None),
            (0, None, None, None),
        ):
            made = vmap(made, in_dims=dims, out_dims=0)
        mask = made(lib.arange(2), lib.arange(1), lib.arange(3), lib.arange(3))
        assert list(mask.shape) == [2, 1, 3, 3]
        assert mask.int().tolist() == [
            [[[1, 0, 0], [1, 1, 0], [0, 1, 0]]], [[[1, 0, 0], [1, 1, 0], [0, 1, 1]]],
        ]  # fmt: skip


def test_what_is_inside_after_an_error():
    with pytest.raises(ValueError, match="inside"):
        torch.vmap(_fails)(torch.ones(2))
    assert torch.vmap(lambda a: a + 1)(torch.ones(2)).tolist() == [2, 2]
    assert torch.rand(2).shape == (2,)


def _fails(a):
    raise ValueError("inside")


def test_gradients_pass_through():
    x = torch.ones(3, 2, requires_grad=True)
    torch.vmap(lambda a: (a * a).sum())(x).sum().backward()
    assert x.grad.tolist() == [[2, 2]] * 3
