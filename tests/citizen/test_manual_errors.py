"""Calls that the pages of the manual say are refused are refused, by the type of error that they name."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core.opdefs import manual

# By the type of error that a page names; each line is a call.
REFUSED = {
    RuntimeError: """
        torch.clamp(t(1.),None,None)
        torch.add(torch.ones(2),torch.ones(3))
        torch.add(t([1]),1,alpha=.5)
        torch.sub(t([True]),t([True]))
        torch.div(t([1]),0,rounding_mode='floor')
        torch.div(t(1.),1,rounding_mode='x')
        torch.pow(t([2]),-1)
        torch.where(t([1.]),1,2)
        torch.allclose(t([1.]),t([1]))
        torch.lerp(t([1.]),t([1.],dtype=torch.float64),.5)
        torch.mean(t([1]))
        torch.max(torch.ones(0))
        torch.min(torch.ones(0))
        torch.topk(t([1.]),2)
        torch.zeros(-1)
        torch.full((-1,),1)
        torch.arange(0,5,0)
        torch.arange(5,0,1)
        torch.linspace(0,1,-1)
        torch.eye(-1)
        torch.randint(2,2,(1,))
        torch.randperm(-1)
        torch.multinomial(t([-1.,1.]),1)
        torch.multinomial(t([1.,1.]),3)
        torch.cat([torch.ones(1,2),torch.ones(1,3)])
        torch.stack([])
        torch.stack([t(1),t([1])])
        torch.split(torch.ones(3),-1)
        torch.split(torch.ones(3),[1,1])
        torch.chunk(torch.ones(3),0)
        torch.reshape(torch.ones(3),(2,))
        torch.flatten(torch.ones(1,1,1),2,1)
        torch.permute(torch.ones(1,1),(0,0))
        torch.permute(torch.ones(1,1),(0,))
        torch.narrow(torch.ones(3),0,2,3)
        torch.repeat_interleave(t([1,2]),t([1,2,3]))
        torch.repeat_interleave(t([1]),-1)
        torch.flip(torch.ones(2),[0,0])
        torch.gather(torch.ones(2),0,t([5]))
        torch.gather(torch.ones(2),0,t([[0]]))
        torch.masked_fill(t([1.]),t([1.]),0)
        torch.masked_fill(torch.ones(2),torch.ones(3,dtype=torch.bool),0)
        torch.tril(torch.ones(2))
        torch.triu(torch.ones(2))
        torch.diag(torch.ones(1,1,1))
        torch.matmul(t(1.),t([1.]))
        torch.matmul(torch.ones(2),torch.ones(3))
        torch.mm(torch.ones(2),torch.ones(2,2))
        torch.bmm(torch.ones(2,2),torch.ones(2,2))
        torch.dot(torch.ones(2,2),torch.ones(2))
        torch.dot(torch.ones(2),torch.ones(3))
        torch.addmm(torch.ones(2),torch.ones(2,2),torch.ones(3,2))
        torch.outer(torch.ones(1,1),torch.ones(1))
        F.linear(torch.ones(2),torch.ones(2,3))
        torch.conv2d(torch.ones(1,1,2,2),torch.ones(1,1,3,3))
        torch.conv2d(torch.ones(1,2,4,4),torch.ones(1,1,3,3))
        F.gelu(t(1.),approximate='x')
        F.scaled_dot_product_attention(torch.ones(1,2,3),torch.ones(1,2,3),torch.ones(1,2,3),attn_mask=torch.ones(2,2),is_causal=True)
        F.pad(torch.ones(2),(1,))
        F.one_hot(t([3]),2)
        F.one_hot(t([-1]))
        torch.remainder(torch.ones(2),torch.ones(3))
        torch.eq(torch.ones(2),torch.ones(3))
    """,
    IndexError: """
        torch.sum(torch.ones(2),dim=3)
        torch.mean(torch.ones(2),dim=3)
        torch.prod(torch.ones(2),dim=3)
        torch.max(torch.ones(2),dim=3)
        torch.max(torch.ones(0),dim=0)
        torch.amax(torch.ones(0),dim=0)
        torch.argmax(torch.ones(2),dim=3)
        torch.argmax(torch.ones(0))
        torch.argmax(torch.ones(2,0),dim=1)
        torch.argmin(torch.ones(2,0),dim=1)
        torch.var(torch.ones(2),dim=3)
        torch.std(torch.ones(2),dim=3)
        torch.any(torch.ones(2),dim=3)
        torch.all(torch.ones(2),dim=3)
        torch.cumsum(torch.ones(2),dim=3)
        torch.logsumexp(torch.ones(2),dim=3)
        torch.sort(torch.ones(2),dim=3)
        torch.argsort(torch.ones(2),dim=3)
        torch.topk(torch.ones(2),1,dim=3)
        torch.median(torch.ones(2),dim=3)
        torch.cat([torch.ones(2)],3)
        torch.stack([torch.ones(2)],3)
        torch.split(torch.ones(2),1,3)
        torch.chunk(torch.ones(2),1,3)
        torch.flatten(torch.ones(2),3)
        torch.permute(torch.ones(2),(3,))
        torch.transpose(torch.ones(2),0,3)
        torch.squeeze(torch.ones(2),3)
        torch.unsqueeze(torch.ones(2),3)
        torch.narrow(torch.ones(2),3,0,1)
        torch.narrow(torch.ones(2),0,9,1)
        torch.flip(torch.ones(2),[3])
        torch.gather(torch.ones(2),3,t([0]))
        torch.index_select(torch.ones(2),0,t([5]))
        torch.index_select(torch.ones(2),3,t([0]))
        torch.softmax(torch.ones(2),3)
        torch.log_softmax(torch.ones(2),3)
    """,
    NotImplementedError: """
        F.pad(torch.ones(2),(1,1),mode='reflect')
        torch.maximum(t([1j]),t([1j]))
        torch.minimum(t([1j]),t([1j]))
    """,
    ValueError: """
        torch.cat([])
    """,
}
CALLS = [
    (error, line.strip())
    for error, lines in REFUSED.items()
    for line in lines.splitlines()
    if line.strip()
]


@pytest.mark.parametrize(("error", "call"), CALLS, ids=[call for _, call in CALLS])
def test_a_call_is_refused_as_the_page_says(error, call):
    scope = {"torch": torch, "F": torch.nn.functional, "t": torch.tensor}
    with pytest.raises(error) as raised:
        eval(call, scope)
    assert raised.type is error
    name = re.match(r"(?:torch|F)\.(\w+)\(", call)[1]
    assert f"    {error.__name__}: " in manual.page(name).partition("Raises:\n")[2]
