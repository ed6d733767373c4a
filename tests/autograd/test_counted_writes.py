"""What an in-place op looks at before it writes, and that it counts the write once."""

import pytest

import mindtorch_core as torch

CALLS = {
    "add_": lambda t, other: t.add_(other),
    "add_ scaled": lambda t, other: t.add_(other, alpha=2),
    "mul_": lambda t, other: t.mul_(other),
    "addcmul_": lambda t, other: t.addcmul_(other, other, value=2),
    "lerp_": lambda t, other: t.lerp_(other, 0.5),
    "copy_": lambda t, other: t.copy_(other + 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_write_counts_once(name):
    t, other = torch.ones(3), torch.full((3,), 2.0)
    view = t[:]
    for i, shown in enumerate((t, view, t), start=1):
        assert CALLS[name](shown, other) is shown
        assert (t._version, view._version) == (i, i)


@pytest.mark.parametrize("name", [*CALLS][:-1])
def test_operands_that_would_change_while_they_are_read(name):
    t = torch.arange(5.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        CALLS[name](t[1:], t[:-1])
    assert t.tolist() == [0, 1, 2, 3, 4]
    CALLS[name](t[1:], t[1:])


@pytest.mark.parametrize("name", CALLS)
def test_elements_that_share_memory(name):
    t = torch.ones(1).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        CALLS[name](t, torch.ones(3))


def test_a_copy_of_itself_counts_and_is_not_refused():
    t = torch.ones(1).expand(3)
    assert t.copy_(t) is t
    assert t._version == 1


def test_a_call_that_fails_does_not_count():
    t = torch.ones(3)
    view = t[:2]
    for shown in (t, view):
        with pytest.raises(RuntimeError):
            shown.add_(torch.ones(7))
    assert (t._version, view._version) == (0, 0)


WRITES = """
    abs_() addcdiv_(b,b) addmm_(b,b) addr_(b[0],b[0]) arctan2_(b) bernoulli_() cauchy_() clamp_(0,1)
    clamp_min_(0) clip_(0,1) copysign_(b) cumprod_(0) cumsum_(0) deg2rad_() div_(b) eq_(b) erfinv_() exponential_()
    fill_(3) fill_diagonal_(2) floor_divide_(b) fmod_(b) frac_() heaviside_(b) hypot_(b) i0_()
    index_add_(0,i,b) index_copy_(0,i,b) index_fill_(0,i,3) index_put_((i,),b) ldexp_(b) lerp_(b,b) logit_(0.1)
    log_normal_() logical_not_() masked_fill_(b>0,2) masked_scatter_(b>0,b) mvlgamma_(1) nan_to_num_() normal_()
    polygamma_(1) pow_(2) put_(i,b[0]) random_() relu_() remainder_(b) renorm_(2,0,1) round_()
    scatter_(0,j,b) scatter_add_(0,j,b) scatter_reduce_(0,j,b,"sum") sigmoid_() sinc_() square_() sub_(b) t_() tril_()
    transpose_(0,1) triu_() true_divide_(b) unsqueeze_(0) uniform_() xlogy_(b) zero_() __iadd__(b) __ipow__(2)
"""


@pytest.mark.parametrize("call", WRITES.split())
def test_counts_are_those_of_pytorch(call):
    pt = pytest.importorskip("torch")
    found = []
    for lib in (torch, pt):
        t, b = lib.full((2, 2), 0.5), lib.full((2, 2), 0.25)
        i, j = lib.tensor([1, 0]), lib.tensor([[1, 0], [0, 1]])
        eval(f"t.{call}", {"t": t, "b": b, "i": i, "j": j})
        found.append(t._version)
    assert found[0] == found[1]
