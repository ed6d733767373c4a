"""Views by other names, copies of views, overwritten copies, views in place: as in PyTorch."""

import contextlib

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

# Expressions in `t`, the library. `x` has 144 elements, `c` has its channels innermost.
CALLS = """
t.ones(2).T
t.ones(2,2,2).T.shape
t.ones(2,2,2).H
t.ones(2).H
t.ones(2).mT
t.ones(2).mH
t.ones(()).mT
t.ones(()).H
t.ones(()).adjoint()
t.ones(2).adjoint()
t.ones(2,2,2).adjoint().shape
t.ones(()).T
t.ones(6).unfold(0,3,2)
t.ones(6).unfold(0,7,2)
t.ones(6).unfold(0,3,0)
t.ones(6).unfold(0,-1,1)
t.ones(()).unfold(0,1,1).shape
t.ones(()).unfold(0,2,1).shape
t.ones(2,6).unfold(1,3,2).stride()
t.ones(6).unfold(1,3,2)
t.view_as_complex(t.ones(3))
t.view_as_complex(t.ones(3,2)).shape
t.view_as_complex(t.ones(3,4)[:,::2])
t.view_as_complex(t.ones(3,3)[:,:2])
t.view_as_complex(t.ones(4,2)[:,:].reshape(-1)[1:7].view(3,2))
t.view_as_complex(t.ones(3,2,dtype=t.int64))
t.view_as_complex(t.ones(()))
t.view_as_real(t.ones(3))
t.movedim(t.ones(2,3,4),(0,1),(1,0)).shape
t.movedim(t.ones(2,3,4),(0,0),(1,0)).shape
t.movedim(t.ones(2,3,4),(0,),(1,0)).shape
t.movedim(t.ones(2,3,4),(0,1),(1,1)).shape
t.movedim(t.ones(2,3,4),5,1)
t.ones(7).tensor_split(3)
t.ones(7).tensor_split((1,3,9))
t.ones(7).tensor_split(t.tensor(3))
t.ones(7).tensor_split(t.tensor([1,3]))
t.ones(7).tensor_split(t.tensor([1.,3]))
t.ones(7).tensor_split(0)
t.ones(()).tensor_split(3)
t.ones(7,2).tensor_split(t.ones(2,2).long())
t.ones(6).hsplit(4)
t.ones(()).hsplit(2)
t.ones(6).vsplit(2)
t.ones(6,2).dsplit(2)
t.ones(6,3).hsplit(2)
t.hsplit(t.ones(6),[1,2])
t.ones(4,3).vsplit(0)
t.ones(5).unsafe_split(2)
t.ones(5).unsafe_chunk(2)
t.ones(5).unsafe_split_with_sizes((2,3))
t.ones(5).narrow(0,t.tensor(2),2)
t.ones(5).narrow(0,t.tensor([2]),2)
t.ones(5).narrow(0,t.tensor(2.),2)
t.narrow_copy(t.ones(5),0,1,2)
t.narrow_copy(t.ones(5),0,4,2)
t.select_scatter(t.ones(2,3),t.zeros(3),0,5)
t.select_scatter(t.ones(2,3),t.zeros(2),0,1)
t.select_scatter(t.ones(2,3),t.zeros(3).long(),0,1)
t.slice_scatter(t.ones(5),t.zeros(2),0,1,3)
t.slice_scatter(t.ones(5),t.zeros(3),0,1,3)
t.slice_scatter(t.ones(5),t.zeros(1),0,1,3)
t.diagonal_scatter(t.ones(3,3),t.zeros(3))
t.diagonal_scatter(t.ones(3,3),t.zeros(2))
t.diagonal_scatter(t.ones(3,3),t.zeros(1))
t.as_strided_scatter(t.ones(3,3),t.zeros(2),(2,),(4,))
t.as_strided_scatter(t.ones(3,3),t.zeros(3),(2,),(4,))
t.select_scatter(c,t.zeros(2,4,5),1,0).stride()
t.slice_scatter(c,t.zeros(2,1,4,5),1,0,1).stride()
t.diagonal_scatter(c.permute(0,2,3,1)[:,:,:,0].mT,t.zeros(2,4)).stride()
t.as_strided_scatter(c[:,1],t.zeros(2),(2,),(4,)).stride()
t.select_scatter(c[:,1:],t.zeros(2,4,5),1,0).stride()
t.permute_copy(c,(3,2,1,0)).stride()
t.view_copy(x,(-1,)).shape
t.expand_copy(t.ones(1,3),(2,3)).stride()
t.transpose_copy(x,0,1).stride()
t.unbind_copy(t.ones(2,3))
t.squeeze_copy(t.ones(1,2)).shape
t.slice_copy(x,0,0,1).shape
t.alias_copy(c).stride()
t.detach_copy(c).stride()
t.as_strided_copy(x,(2,3),(1,2)).stride()
t.split_copy(t.ones(4),2)
t.split_with_sizes_copy(t.ones(4),(2,2))
t.view_copy(t.ones(4),t.int32)
t.unfold_copy(t.ones(4),0,2,1).stride()
t.diagonal_copy(t.ones(4,4)).stride()
t.view_as_real_copy(t.ones(2,dtype=t.complex64)).stride()
t.t_copy(t.ones(2,3)).stride()
t.flatten(x,0,1).shape
t.unflatten(t.ones(6),0,(2,3)).shape
t.unflatten(t.ones(6),-1,(-1,3)).shape
t.atleast_1d(t.tensor(1.)).shape
t.atleast_3d(t.ones(3)).shape
t.atleast_3d(t.ones(3,2)).shape
t.atleast_2d((t.ones(3),t.ones(())))
t.ones(2,3).t_().shape
t.ones(2,3).transpose_(0,1).stride()
t.ones(2,3).swapaxes_(0,1).stride()
t.ones(2,3).swapdims_(0,1).stride()
t.ones(1,3).squeeze_().shape
t.ones(3).unsqueeze_(0).shape
t.ones(4).as_strided_((2,),(2,)).shape
t.ones(4).detach_()
t.ones(4).t_()._version
t.ones(4).unsqueeze_(0)._version
t.ones(4).detach()._version
t.ones(4).add_(1).detach()._version
t.ones(4).set_(t.ones(2)).shape
t.ones(1,3).expand(2,3).copy_(t.ones(2,3))
t.ones(1,3).expand(2,3).fill_(1).shape
t.ones(1,3).expand(2,3).zero_().shape
t.ones(6)[1:].add_(t.ones(6)[:-1]).shape
(lambda a: a[1:].add_(a[:-1]))(t.ones(6))
(lambda a: a[1:].copy_(a[:-1]))(t.ones(6)).shape
(lambda a: a.t().add_(a))(t.ones(2,2))
(lambda a: t.add(a[:-1],1,out=a[1:]))(t.ones(6))
(lambda a: t.add(a,1,out=a.expand(2,6)))(t.ones(6))
(lambda a: t.add(a,1,out=a.t()))(t.ones(2,2))
(lambda a: a.as_strided((3,3),(1,1)).fill_(2).shape)(t.ones(6))
(lambda a: a.unfold(0,3,1).copy_(t.ones(4,3)))(t.ones(6))
""".strip().splitlines()


def outcome(call, lib):
    """Shapes, strides, dtypes and values; or the type of the exception and its first line."""
    x = lib.arange(0, 144, 1, dtype=lib.float32).reshape(2, 3, 4, 6)
    c = lib.arange(0, 120, 1, dtype=lib.float32).reshape(2, 3, 4, 5)
    c = c.to(memory_format=lib.channels_last)
    try:
        made = eval(call, {"t": lib, "x": x, "c": c, "torch": lib})
    except Exception as error:  # noqa: BLE001 (whatever PyTorch raises)
        return type(error).__name__
    if not isinstance(made, tuple | list):
        made = [made]
    return [
        (tuple(m.shape), m.stride() if m.numel() else None, str(m.dtype), m.tolist())
        if isinstance(m, lib.Tensor)
        else m
        for m in made
    ]


@pytest.mark.filterwarnings("ignore")  # PyTorch deprecates matrices without dimensions
@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    assert outcome(call, torch) == outcome(call, pt)


TEXTS = """
t.ones(2).mT
t.ones(2).mH
t.ones(2, 2, 2).H
t.ones(2).adjoint()
t.ones(6).unfold(0, 7, 2)
t.ones(6).unfold(0, 3, 0)
t.view_as_complex(t.ones(3))
t.view_as_complex(t.ones(3, 4)[:, ::2])
t.view_as_real(t.ones(3))
t.movedim(t.ones(2, 3, 4), (0, 0), (1, 0))
t.ones(7).tensor_split(0)
t.ones(6).hsplit(4)
t.ones(6).vsplit(2)
t.ones(5).narrow(0, t.tensor([2]), 2)
t.select_scatter(t.ones(2, 3), t.zeros(2), 0, 1)
t.ones(1, 3).expand(2, 3).copy_(t.ones(2, 3))
(lambda a: a[1:].add_(a[:-1]))(t.ones(6))
(lambda a: a[1:].copy_(a[:-1]))(t.ones(6))
(lambda a: t.add(a[:-1], 1, out=a[1:]))(t.ones(6))
(lambda a: t.add(a, 1, out=a.expand(2, 6)))(t.ones(6))
(lambda a: t.exp(a, out=a.t()))(t.ones(2, 2))
""".strip().splitlines()


@pytest.mark.parametrize("call", TEXTS)
def test_texts_of_errors(call):
    texts = []
    for lib in (torch, pt):
        with pytest.raises(RuntimeError) as info:
            eval(call, {"t": lib})
        texts.append(str(info.value).splitlines()[0])
    assert texts[0] == texts[1]


GRADIENTS = """
a.unfold(0, 2, 1) * 2
a.unfold(0, 2, 2)
t.view_as_complex(a.reshape(3, 2)).abs()
t.view_as_real(t.view_as_complex(a.reshape(3, 2)) * 2)
t.select_scatter(a.view(2, 3), a[:3], 0, 1) * w.view(2, 3)
t.slice_scatter(a, a[:2] * 3, 0, 1, 3) * w
t.diagonal_scatter(a.view(2, 3), a[:2]) * w.view(2, 3)
t.permute_copy(a.view(2, 3), (1, 0)) * w.view(3, 2)
t.unbind_copy(a.view(2, 3))[1] * 2
a.tensor_split(4)[1] * 2
t.moveaxis(a.view(1, 2, 3), (0, 1), (2, 0)) * w.view(2, 3, 1)
t.atleast_3d(a) * 2
(a * 1).view(2, 3).t_() * w.view(3, 2)
(a * 1).unsqueeze_(0).transpose_(0, 1) * w.view(6, 1)
(a * 1).as_strided_((2, 2), (1, 2), 1) * w[:4].view(2, 2)
a.view(2, 3).adjoint() * w.view(3, 2)
""".strip().splitlines()


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradients(call):
    found = []
    for lib in (torch, pt):
        a = lib.tensor([1.0, 2, 3, 4, 5, 6], requires_grad=True)
        eval(call, {"t": lib, "a": a, "w": lib.arange(0, 6, 1)}).sum().backward()
        found.append(a.grad.tolist())
    assert found[0] == pytest.approx(found[1])


@pytest.mark.parametrize("name", ["t_", "unsqueeze_", "squeeze_"])
def test_leaves_that_require_grad_keep_their_geometry(name):
    for lib in (torch, pt):
        a = lib.ones(2, 3, requires_grad=True)
        args = (0,) if name == "unsqueeze_" else ()
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            getattr(a, name)(*args)
        assert a.shape == (2, 3)


def test_views_in_place_in_a_pipeline():
    x = torch.arange(6.0).reshape(2, 3)
    with torch.pipeline():
        y = x + 1
        before = y * 2
        y.t_()
        after = y * 2
        y[0] = 9
    assert before.tolist() == [[2, 4, 6], [8, 10, 12]]
    assert after.tolist() == [[2, 8], [4, 10], [6, 12]]
    assert y.tolist() == [[9, 9], [2, 5], [3, 6]]


def test_set_shows_other_memory():
    for lib in (torch, pt):
        a, b = lib.zeros(2), lib.arange(0, 6, 1, dtype=lib.float32)
        assert a.set_(b) is a
        a[0] = 7
        assert b[0].item() == 7
        a.set_(b, 1, (2, 2), (2, 1))
        assert a.tolist() == [[1, 2], [3, 4]]
        assert a.set_().shape == (0,)
        with pytest.raises(RuntimeError):
            a.set_(lib.ones(2, dtype=lib.int64))

    with pytest.raises(RuntimeError, match="out of bounds for storage"):  # PyTorch makes it larger
        torch.zeros(2).set_(torch.zeros(6), 5, (2,), (1,))


def test_gradient_of_a_strided_part_overwritten():
    """PyTorch 2.13 gives other numbers here, which finite differences contradict."""
    a = torch.tensor([1.0, 2, 3, 4, 5, 6], requires_grad=True)
    made = torch.as_strided_scatter(a, a[:2], (2,), (3,))
    assert made.tolist() == [1, 2, 3, 2, 5, 6]
    (made * torch.arange(6.0)).sum().backward()
    assert a.grad.tolist() == [0, 1 + 3, 2, 0, 4, 5]


# ---- versions -----------------------------------------------------------------------------------

WRITES = """
x.add_(1)
x.bernoulli_(0.5)
x.fill_(t.tensor(1.0))
x.zero_()
x.resize_(3)
x.copy_(x)
x[0:1].copy_(x[0:1])
x.view(4)[1:].add_(1)
x.detach().mul_(2)
x.data.mul_(2)
x[t.tensor([1, 2])] = 2.0
x.t_()
x.unsqueeze_(0)
x.exponential_()
t.dropout_(x, 0.5, True)
t.add(x, 1, out=x)
t.rrelu_(x)
""".strip().splitlines()
FRESH = """
t.rand(2)
t.randint(3, (2,))
t.rand_like(x)
t.ones_like(t.ones(2, 3).t())
t.normal(t.ones(2), t.ones(2))
t.bernoulli(x, 0.5)
t.select_scatter(t.ones(2, 2), t.ones(2), 0, 0)
t.as_strided_scatter(t.ones(3), t.ones(1), (1,), (1,))
t.dropout(x, 0.5, True)
t.view_copy(x, (2, 2))
""".strip().splitlines()


@pytest.mark.parametrize("write", WRITES)
def test_each_write_counts_once(write):
    versions = []
    for lib in (torch, pt):
        x = lib.ones(4)
        exec(write, {"t": lib, "x": x})
        versions.append(x._version)
    assert versions[0] == versions[1]


@pytest.mark.parametrize("make", FRESH)
def test_what_an_op_makes_starts_at_0(make):
    for lib in (torch, pt):
        assert eval(make, {"t": lib, "x": lib.ones(4)})._version == 0


ODD_STRIDES = [((1,), (0,)), ((1, 4, 1), (9, 1, 5)), ((1, 1), (0, 3)), ((2, 1), (1, 9)), ((1, 2, 1), (0, 3, 0)),
               ((1, 2), (9, 1)), ((1, 1, 3), (7, 0, 1))]  # fmt: skip
RESHAPED = {
    "flat": lambda x: x.view(-1),
    "flatten": lambda x: x.flatten(),
    "itself": lambda x: x.view(x.shape),
    "before": lambda x: x.view((1, *x.shape)),
    "behind": lambda x: x.reshape((*x.shape, 1)),
    "around": lambda x: x.view((1, *x.shape, 1, 1)),
    "view_as": lambda x: x.view_as(x),
    "a grid": lambda x: x.flatten()[:2].expand(2, -1),
}


@pytest.mark.parametrize("pipeline", [False, True], ids=["at once", "pipeline"])
@pytest.mark.parametrize("reshape", RESHAPED.values(), ids=RESHAPED)
@pytest.mark.parametrize(("shape", "strides"), ODD_STRIDES)
def test_strides_of_sizes_of_one_decide(shape, strides, reshape, pipeline):
    """NumPy forgets them; what shares memory with what is asked of them."""

    def made(lib):
        try:
            y = reshape(lib.empty_strided(shape, strides))
        except RuntimeError:
            return "refused"
        return tuple(y.shape), y.stride()

    with torch.pipeline() if pipeline else contextlib.nullcontext():
        ours = made(torch)
    assert ours == made(pt)


def test_a_result_is_given_no_memory_that_its_history_does_not_know():
    x = torch.ones(2, requires_grad=True)
    for made in (x, x * 2, (x * 2)[:1]):  # PyTorch refuses leaves only
        with pytest.raises(RuntimeError, match=r"history would not know|a leaf Variable"):
            made.set_(torch.zeros(3))
    with torch.no_grad():
        assert x.set_(torch.zeros(3)).shape == (3,)
