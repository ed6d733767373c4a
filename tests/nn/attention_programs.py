"""Calls of ``torch.nn.attention.flex_attention``, one program a row; run as a script, what PyTorch makes of them.

It loads PyTorch's compiler, which changes how an interpreter counts references: tests ask in a process of its own.
"""

import json
import math
import warnings
from importlib import import_module

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
blocks(X.create_block_mask(causal, None, None, 40, 32, 'cpu', BLOCK_SIZE=16))
blocks(X.create_block_mask(by_head, 2, 3, 9, 11, 'cpu', BLOCK_SIZE=(2, 3)))
blocks(X.create_block_mask(by_head, 2, 3, 9, 11, 'cpu', BLOCK_SIZE=2)[1])
blocks(X.create_block_mask(by_head, 2, 3, 9, 11, 'cpu', BLOCK_SIZE=2)[-1, 1:, -2])
blocks(X.create_block_mask(by_head, 2, 3, 9, 11, 'cpu', BLOCK_SIZE=2)[:, :, X.torch.tensor([3, 0])])
X.create_block_mask(causal, 1, 1, 4, 4, 'cpu')[0].mask_mod(0, 0, 0, 0)
X.create_block_mask(by_head, 2, 3, 40, 32, 'cpu', BLOCK_SIZE=16).numel()
str(X.create_block_mask(by_head, 2, 3, 40, 32, 'cpu', BLOCK_SIZE=16))
str(X.create_block_mask(causal, None, None, 600, 600, 'cpu', BLOCK_SIZE=16))
X.create_block_mask(causal, None, None, 40, 32, 'cpu', BLOCK_SIZE=4).to_string(grid_size=-1)
X.create_block_mask(near, None, None, 40, 32, 'cpu', BLOCK_SIZE=4).to_string(grid_size=(3, 4), limit=1)
repr(X.create_block_mask(near, 2, None, 40, 32, 'cpu', BLOCK_SIZE=4))
repr(X.BlockMask.from_kv_blocks(*listed(2), BLOCK_SIZE=4, compute_q_blocks=False))
blocks(X.BlockMask.from_kv_blocks(*listed(2), BLOCK_SIZE=(4, 2)))
blocks(X.BlockMask.from_kv_blocks(*listed(2), *listed(1), mask_mod=causal, seq_lengths=(200, 300)).to('cpu'))
X.BlockMask.from_kv_blocks(*listed(2)).mask_mod is X.noop_mask
X.BlockMask.from_kv_blocks(*listed(2), listed(1)[0])
X.BlockMask.from_kv_blocks(X.torch.tensor(1), X.torch.tensor([1]))
X.BlockMask((8, 8), *listed(2), None, None, None, None, None, None).sparsity()
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
X.flex_attention(q, k, v, kernel_options={'BLOCK_M': 16, 'BACKEND': 'AUTO'}).tolist()
sorted(X.FlexKernelOptions.__optional_keys__)
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
X.flex_attention(q, k, v, lambda s, b, h, i, j: s + (i - j) * 0.1, X.create_block_mask(causal, 2, 2, 3, 4, 'cpu', BLOCK_SIZE=2)).tolist()
""".splitlines()


def causal(b, h, i, j):
    return i >= j


def near(b, h, i, j):
    return abs(i - j) < 2


def by_head(b, h, i, j):
    return (h + b + i) >= j


def blind(b, h, i, j):
    return (i > 0) & (j < 2)


def blocks(mask):
    """What is listed of its blocks, and what is said of it."""
    parts = [None if part is None else part.tolist() for part in mask.as_tuple()[2:10]]
    return [parts, mask.to_dense().tolist(), mask.sparsity(), mask.shape, mask.BLOCK_SIZE]


def flat(value):
    return [n for v in value for n in flat(v)] if isinstance(value, list | tuple) else [value]


def run(lib, program):
    """The numbers that a program gives, or the name of the error that it raises."""

    def waves(*shape):
        return (lib.arange(float(math.prod(shape))).reshape(shape) * 0.7).sin()

    def listed(number):
        columns = lib.tensor([[[[2, 0, 1], [1, 2, 0]]]], dtype=lib.int32)
        return lib.full((1, 1, 2), number, dtype=lib.int32), columns

    flex = import_module(f"{lib.__name__}.nn.attention.flex_attention")
    given = {"q": waves(2, 2, 3, 4), "k": waves(2, 2, 4, 4), "v": waves(2, 2, 4, 3), "X": flex}
    given |= {f.__name__: f for f in (causal, near, by_head, blind, blocks, listed)}
    try:
        return flat(eval(program, given))
    except Exception as error:  # noqa: BLE001 (the outcome is the exception)
        return type(error).__name__


if __name__ == "__main__":
    import torch

    there = import_module("torch.nn.attention.flex_attention")
    there._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # nothing is compiled
    warnings.simplefilter("ignore")
    print(json.dumps([run(torch, program) for program in PROGRAMS]))
