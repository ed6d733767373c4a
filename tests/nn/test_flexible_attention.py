"""``torch.nn.attention.flex_attention``, one program a row: PyTorch's numbers, and what it refuses."""

import math
from importlib import import_module

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

PROGRAMS = """\
X.create_mask(causal, None, None, 3, 4).tolist()
X.create_mask(causal, 2, None, 3, 4).shape
X.create_mask(causal, None, 3, 3, 4).shape
X.create_mask(by_head, 2, 3, 3, 4).tolist()
X.create_block_mask(causal, None, None, 8, 8, 'cpu', BLOCK_SIZE=4).shape
X.create_block_mask(causal, None, None, 8, 8, 'cpu', BLOCK_SIZE=4).to_dense().tolist()
X.create_block_mask(causal, 2, 3, 8, 12, 'cpu', BLOCK_SIZE=(2, 4)).to_dense().tolist()
X.create_block_mask(causal, 2, 3, 8, 12, 'cpu', BLOCK_SIZE=(2, 4)).sparsity()
X.create_block_mask(causal, 1, 1, 7, 9, 'cpu', BLOCK_SIZE=4).to_dense().tolist()
X.create_block_mask(causal, 1, 1, 7, 9, 'cpu').to_dense().tolist()
X.create_block_mask(causal, 1, 1, 7, 9, 'cpu').seq_lengths
X.create_block_mask(causal, 1, 1, 8, 8, 'cpu',BLOCK_SIZE=(2,4)).BLOCK_SIZE
X.create_mask(X.and_masks(causal, near), 1, 1, 4, 4).tolist()
X.create_mask(X.or_masks(causal, near), 1, 1, 4, 4).tolist()
X.create_mask(X.or_masks(), 1, 1, 2, 2).tolist()
X.create_mask(X.and_masks(), 1, 1, 2, 2).tolist()
X.create_mask(X.noop_mask, 1, 1, 2, 2).tolist()
X.flex_attention(q, k, v).tolist()
X.flex_attention(q, k, v, scale=0.5).tolist()
X.flex_attention(q, k, v, scale=0.0).tolist()
X.flex_attention(q, k, v, scale=1.0).tolist()
X.flex_attention(q, k, v, scale=-1.0).tolist()
X.flex_attention(q, k, v, lambda s, b, h, i, j: s + b * 0.1 + h * 0.2 - i * 0.3 + j * 0.4).tolist()
X.flex_attention(q, k[:, :1], v[:, :1], enable_gqa=True).tolist()
X.flex_attention(q, k[:, :1], v[:, :1]).tolist()
X.flex_attention(q[:, :1], k, v, enable_gqa=True).tolist()
X.flex_attention(q, k, v, return_lse=True)[1].tolist()
X.flex_attention(q, k, v, scale=2.0, return_lse=True)[1].tolist()
X.flex_attention(q, k, v, return_aux=X.AuxRequest(lse=True))[1].lse.tolist()
X.flex_attention(q, k, v, return_aux=X.AuxRequest(lse=True))[0].tolist()
X.flex_attention(q, k, v, return_aux=X.AuxRequest())[1]
X.flex_attention(q, k, v, return_aux=X.AuxRequest(lse=True), return_lse=True)
X.flex_attention(q, k, v, None, X.create_block_mask(causal, None, None, 3, 4, 'cpu')).tolist()
X.flex_attention(q, k, v, None, X.create_block_mask(by_head, 2, 2, 3, 4, 'cpu')).tolist()
X.flex_attention(q, k, v, None, X.create_block_mask(blind, None, None, 3, 4, 'cpu')).tolist()
X.flex_attention(q, k, v, None, X.create_block_mask(blind, None, None, 3, 4, 'cpu'), return_lse=True)[1].tolist()
X.flex_attention(q, k[:1], v[:1]).tolist()
X.flex_attention(q[0], k[0], v[0]).tolist()
X.flex_attention(q, k[..., :2], v).tolist()
X.flex_attention(q, k, v[:, :, :3]).tolist()
X.flex_attention(q, k, v, None, X.create_block_mask(causal, None, None, 5, 5, 'cpu')).tolist()
X.flex_attention(q, k[:1], v[:1], None, X.create_block_mask(by_head, 2, 2, 3, 4, 'cpu')).tolist()
X.flex_attention(q, k[:1], v[:1], None, X.create_block_mask(by_head, 1, 2, 3, 4, 'cpu')).tolist()
X.flex_attention(q, k, v, None, X.create_block_mask(causal, None, None, 2, 4, 'cpu')).tolist()
X.flex_attention(q, k, v, None, X.create_block_mask(causal, None, None, 3, 5, 'cpu')).tolist()
X.flex_attention(q, k[:, :, :1], v[:, :, :1], return_aux=X.AuxRequest(lse=True))[1].lse.tolist()
""".splitlines()


def causal(b, h, i, j):
    return i >= j


def near(b, h, i, j):
    return abs(i - j) < 2


def by_head(b, h, i, j):
    return (h + b + i) >= j


def blind(b, h, i, j):
    return (i > 0) & (j < 2)


def run(lib, program):
    def waves(*shape):
        return (lib.arange(float(math.prod(shape))).reshape(shape) * 0.7).sin()

    flex = import_module(f"{lib.__name__}.nn.attention.flex_attention")
    given = {"q": waves(2, 2, 3, 4), "k": waves(2, 2, 4, 4), "v": waves(2, 2, 4, 3), "X": flex}
    return outcome(eval, program, given | {f.__name__: f for f in (causal, near, by_head, blind)})


def flat(value):
    return [n for v in value for n in flat(v)] if isinstance(value, list | tuple) else [value]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_pytorch(program, monkeypatch):
    there = import_module("torch.nn.attention.flex_attention")
    monkeypatch.setattr(there, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)  # nothing is compiled
    mine, theirs = run(torch, program), run(pt, program)
    if isinstance(theirs, Exception):
        assert type(mine) is type(theirs)
    else:
        assert flat(mine) == [v if v is None else pytest.approx(v, abs=1e-5) for v in flat(theirs)]


def test_the_largest_scores():
    """PyTorch has them on other devices than the CPU."""
    flex = import_module("mindtorch_core.nn.attention.flex_attention")
    q, k = torch.randn(1, 1, 3, 4), torch.randn(1, 1, 5, 4)
    aux = flex.flex_attention(q, k, k, return_aux=flex.AuxRequest(max_scores=True))[1]
    assert aux.lse is None
    assert aux.max_scores.tolist() == (q @ k.mT / 2).amax(-1).tolist()


def test_an_older_way_to_ask_is_warned_of():
    flex = import_module("mindtorch_core.nn.attention.flex_attention")
    q = torch.ones(1, 1, 2, 2)
    with pytest.warns(FutureWarning, match="return_aux") as caught:
        flex.flex_attention(q, q, q, return_lse=True)
    assert caught[0].filename == __file__
