"""What everyday calls on few elements cost, here and in PyTorch: microseconds in one thread, in turns.

    python benchmarks/everyday.py                  about 220 calls; shows the dearest beside PyTorch's
    python benchmarks/everyday.py clamp cat        those whose text contains one of these
    python benchmarks/everyday.py --shown 300      all of them

Tensors are 8x8, images 2x3x8x8: so it is the calls that are measured, not the arithmetic.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence

CALLS = r"""
x+x | x+1 | 1-x | x*2.0 | x/3 | x//2 | x%2 | x**2 | -x | x>0 | x==x | x@x | x@v | abs(x) | x.clamp(0,1)
x.clamp(min=0) | x.clamp_min(0) | x.exp() | p.log() | p.sqrt() | p.rsqrt() | x.sin() | x.tanh() | x.sigmoid()
x.relu() | F.relu(x) | F.gelu(x) | F.silu(x) | F.softmax(x,-1) | F.log_softmax(x,-1) | F.leaky_relu(x)
F.elu(x) | F.softplus(x) | F.hardtanh(x) | F.dropout(x,0.5) | F.layer_norm(x,(8,)) | F.linear(x,x,v)
F.mse_loss(x,p) | F.l1_loss(x,p) | F.cross_entropy(x,i) | F.nll_loss(x,i) | F.embedding(i,x) | F.one_hot(i)
F.binary_cross_entropy_with_logits(x,p) | F.pad(x,(1,1)) | F.conv2d(q,w) | F.max_pool2d(q,2)
F.avg_pool2d(q,2) | F.interpolate(q,scale_factor=2) | F.normalize(x) | F.cosine_similarity(x,p)
x.sum() | x.sum(0) | x.mean() | x.mean(1) | x.var() | x.std(0) | x.max() | x.max(0) | x.min(1) | x.amax(0)
x.argmax() | x.argmax(1) | x.prod() | x.norm() | x.all() | b.any() | x.cumsum(0) | x.sort() | x.topk(2)
x.median() | x.logsumexp(0) | x.unique() | x.nonzero() | b.sum() | x.isnan() | x.count_nonzero()
x.view(4,16) | x.reshape(-1) | x.t() | x.transpose(0,1) | x.permute(1,0) | x.unsqueeze(0) | x.squeeze()
x.flatten() | x.expand(2,8,8) | x.repeat(2,2) | x[0] | x[:,1] | x[1:3] | x[i] | x[b] | x[...,None] | x[0,1]
x.chunk(2) | x.split(3) | x.unbind() | T.cat([x,x]) | T.stack([x,x]) | x.flip(0) | x.roll(1) | x.tril()
x.triu() | x.diag() | x.gather(1,j) | x.index_select(0,i) | x.masked_fill(b,0) | T.where(b,x,p)
T.where(b,x,0.0) | x.scatter(1,j,x) | x.take_along_dim(j,1) | x.narrow(0,1,2) | x.select(0,1) | x.contiguous()
x.clone() | x.detach() | x.to(T.float64) | x.double() | x.int() | x.half() | x.float() | v[0].item()
v.tolist() | x.size() | x.shape | x.numel() | x.type_as(p) | x.new_zeros(3) | x.squeeze(0) | x.movedim(0,1)
x.T | x.mT | T.zeros(8,8) | T.ones(8,8) | T.empty(8,8) | T.full((8,8),2.0) | T.arange(8) | T.linspace(0,1,8)
T.eye(8) | T.rand(8,8) | T.randn(8,8) | T.randint(0,9,(8,)) | T.randperm(8) | T.tensor([1.,2.]) | T.tensor(3.)
T.zeros_like(x) | T.ones_like(x) | T.rand_like(x) | T.full_like(x,3) | T.as_tensor(2.) | T.manual_seed(0)
x.add_(1) | x.mul_(1.0) | x.copy_(p) | x.zero_() | x.fill_(1) | x.clamp_(0,1) | x.exp_() | x.normal_()
x.uniform_() | x.__setitem__(0,1.) | x.__setitem__((slice(None),0),v) | x.__setitem__(b,0.) | x.addcmul_(p,p)
x.lerp_(p,.1) | x.sub_(p,alpha=.1) | x.index_add_(0,i,p) | x.index_fill_(0,i,0) | x.masked_fill_(b,0)
x.scatter_(1,j,0.) | x.scatter_add_(1,j,p) | T.add(x,p,out=o) | T.exp(x,out=o) | T.mm(x,p,out=o)
T.sum(x,0,out=v) | T.mm(x,x) | T.bmm(q[0],q[0]) | T.matmul(x,x) | T.einsum("ij,jk->ik",x,x) | T.dot(v,v)
T.mv(x,v) | T.outer(v,v) | T.addmm(x,x,x) | T.baddbmm(q[0],q[0],q[0]) | T.linalg.norm(x) | T.linalg.inv(s)
T.linalg.svd(x) | T.cdist(x,p) | T.allclose(x,x) | T.equal(x,x) | T.maximum(x,p) | T.minimum(x,p)
T.pow(p,2.5) | T.lerp(x,p,.5) | T.addcmul(x,p,p) | T.floor(x) | T.round(x) | T.sign(x) | T.reciprocal(p)
T.square(x) | T.erf(x) | T.logical_and(b,b) | T.bitwise_and(z,z) | b&b | ~b | z+z | z*2 | z//3 | z.float()
T.isclose(x,p) | T.searchsorted(y,v) | T.bincount(i) | T.histc(x) | T.meshgrid(v,v,indexing="ij")
T.cross(x[:,:3],p[:,:3],dim=1) | T.tensordot(x,x,1) | T.kron(x[:2,:2],x) | T.diff(v) | T.trace(x)
T.std_mean(x) | T.var_mean(x) | T.argsort(v) | T.multinomial(p,2) | T.bernoulli(h) | T.nan_to_num(x)
T.polar(p,x) | T.complex(x,p) | T.fft.fft(v) | T.is_tensor(x) | T.result_type(x,1)
"""


def every_call(parts: Sequence[str]) -> list[str]:
    """The calls whose text contains one of some parts; all without any."""
    calls = [call.strip() for line in CALLS.strip().splitlines() for call in line.split(" | ")]
    return [call for call in calls if not parts or any(part in call for part in parts)]


def operands(lib, functional) -> dict[str, object]:
    """What calls name."""
    x = lib.randn(8, 8)
    z = lib.arange(64).reshape(8, 8)
    found = {"T": lib, "F": functional, "x": x, "p": x.abs() + 0.1, "b": x > 0, "v": lib.randn(8)}
    found |= {"i": lib.arange(8), "z": z, "j": z % 8, "o": lib.empty(8, 8), "h": lib.rand(8, 8)}
    found |= {"q": lib.randn(2, 3, 8, 8), "w": lib.randn(4, 3, 3, 3), "s": x + 10 * lib.eye(8)}
    return found | {"y": lib.randn(8).sort()[0]}


def least(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The least microseconds of each, called in turns."""
    best = [math.inf] * len(calls)
    for round_ in range(rounds + 20):  # the first are not counted
        for n, call in enumerate(calls):
            start = time.perf_counter()
            call()
            if round_ >= 20:
                best[n] = min(best[n], time.perf_counter() - start)
    return [t * 1e6 for t in best]


def show(found: list[tuple[float, str, float, float]], limits: Sequence[int], shown: int) -> None:
    """Print ratios, calls and microseconds here and there: the dearest, and what is said of all."""
    found = sorted(found, reverse=True)
    mean = math.exp(sum(math.log(ratio) for ratio, *_ in found) / max(len(found), 1))
    for limit in limits:
        print(f"above {limit}: {sum(ratio > limit for ratio, *_ in found)} of {len(found)}")
    print(f"geometric mean of here / torch: {mean:.2f}\n")
    width = max((len(call) for _, call, *_ in found[:shown]), default=0) + 2
    print(f"{'':{width}}{'here':>9}{'torch':>9}{'here / torch':>14}")
    for ratio, call, here, there in found[:shown]:
        print(f"{call:{width}}{here:9.2f}{there:9.2f}{ratio:14.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="of the text of calls; all calls without any")
    parser.add_argument("--shown", type=int, default=40, help="how many are shown")
    parser.add_argument("--rounds", type=int, default=500)
    options = parser.parse_args()

    import torch as pt

    import mindtorch_core as torch

    found = []
    for lib in (pt, torch):
        lib.set_num_threads(1)
    for call in every_call(options.parts):
        both = [operands(lib, lib.nn.functional) for lib in (torch, pt)]
        here, there = least([eval(f"lambda: {call}", names) for names in both], options.rounds)
        found.append((here / there, call, here, there))
    show(found, (2, 3, 5), options.shown)


if __name__ == "__main__":
    main()
