"""Conjugate and negative views where PyTorch cannot be asked: other backends, third parties' ops, modes,
copies that share memory, and what no tensor without a mark may pay.
"""

import copy
import io
import pickle

import bare
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import UNRESOLVED, DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import explain


def numbers(device="cpu"):
    return torch.tensor([1 + 2j, 3 - 1j, -2 + 0.5j], device=device)


def program(device):
    """Views, reads and writes; every tensor at the end."""
    x = numbers(device)
    c = x.conj()
    c.mul_(2j)
    x.conj()[1:].imag.add_(1)
    c.view(3, 1).t()[0, :2].copy_(torch.tensor([1j, 2 + 1j], device=device))
    torch.mul(x, 1 - 1j, out=c)
    c[1] = 5j
    made = [c * x, torch.cat([c, x]), c.real + c.imag, c.clone(), c.exp(), c.sum()]
    assert not any(t._keys & UNRESOLVED for t in made)
    return [x, c, c.imag, c.reshape(3, 1), *made]


@pytest.fixture
def bare_device(tmp_path):
    with bare.loaded(tmp_path):
        yield "bare"


@pytest.mark.parametrize("deferred", [False, True])
def test_a_backend_that_knows_nothing_of_them(bare_device, deferred):
    if deferred:
        with torch.pipeline():
            found = program(bare_device)
    else:
        found = program(bare_device)
    for t, wanted in zip(found, program("cpu"), strict=True):
        torch.testing.assert_close(t.cpu(), wanted, rtol=1e-5, atol=1e-6)


def test_kernels_never_meet_one(bare_device):
    """Neither those of views: whatever keys they give their results, the mark is on them."""
    met = []

    def watch(name):
        kernel = registry.entry(name).kernels[DispatchKey.CPU]

        def watched(*args, **kwargs):
            met.extend(t._keys & UNRESOLVED for t in args if isinstance(t, torch.Tensor))
            return kernel(*args, **kwargs)

        return registry.register_kernel(name, "CPU", watched)

    names = ["view", "transpose", "reshape", "mul", "mul_", "copy_", "cat", "neg", "_conj_physical"]
    handles = [watch(name) for name in names]
    try:
        c = numbers().conj()
        assert c.view(3, 1).transpose(0, 1).is_conj()
        assert c.reshape(1, 3).is_conj()
        c.mul_(c * 2).copy_(c)
        c.imag.mul_(-c.imag)
        torch.cat([c, c])
    finally:
        for handle in reversed(handles):
            handle.remove()
    assert len(met) > 10
    assert not any(met)


def test_meta():
    m = numbers("meta").conj()
    assert (m.is_conj(), m.imag.is_neg(), m.view(3, 1).is_conj()) == (True, True, True)
    assert not any(t.is_conj() for t in (m * 2, m.clone(), torch.add(m, 1)))
    assert m.mul_(2) is m
    assert torch.mul(m, 2, out=m) is m
    assert m.is_conj()


# ---- pipelines ----------------------------------------------------------------------------------


def test_views_wait_without_being_recorded():
    with torch.pipeline() as pipe:
        y = numbers() + 1
        recorded = len(pipe.entries)
        c = y.conj()
        assert len(pipe.entries) == recorded
        assert (c._pending, c.is_conj()) == (True, True)
        d = c.view(3, 1)
        c.mul_(2j)
        d[0].imag.zero_()
        assert y._pending
        read = c.tolist()  # inside the block: it is launched
        assert not y._pending
        c.add_(1)
    assert read == [4 + 0j, -2 + 8j, 1 - 2j]
    assert y.conj().tolist() == c.tolist() == [5 + 0j, -1 + 8j, 2 - 2j]


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_a_view_of_a_pending_tensor_has_a_layout_afterwards(shape):
    with torch.pipeline():
        y = torch.zeros(shape, dtype=torch.complex64) + 1j
        c = y.conj()
    assert c.stride() == y.stride()
    assert c.data_ptr() == y.data_ptr()


def test_a_value_that_failed():
    with torch.pipeline():
        y = torch.arange(0, 3, 1).gather(0, torch.tensor([7]))
        with pytest.raises(torch.PipelineError):
            (y._neg_view() + 1).tolist()


# ---- gradients ----------------------------------------------------------------------------------


def test_gradients_of_leaves_are_plain():
    a = numbers().requires_grad_()
    g = numbers()
    a.conj().backward(g)
    assert not a.grad.is_conj()
    assert a.grad.tolist() == g.conj().tolist()
    a.grad.zero_()
    assert g.tolist() == numbers().tolist()


def test_a_change_of_what_was_saved_is_found():
    a = numbers().requires_grad_()
    b = a * 1
    y = b * b
    b.conj().imag.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.real.sum().backward()


def test_leaves_are_protected():
    a = numbers().requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        a.conj().mul_(2)
    with torch.no_grad():
        a.conj().mul_(2j)
    assert a.detach().tolist() == (numbers().conj() * 2j).conj().tolist()


def test_saved_tensors_keep_the_mark():
    packed = []

    def pack(t):
        packed.append(t.is_conj())
        return t

    def gradient():
        a = numbers().requires_grad_()
        return torch.autograd.grad((a.conj() * a).real.sum(), a)[0]

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        found = gradient()
    assert sorted(packed) == [False, True]
    assert found.tolist() == gradient().tolist() == (2 * numbers()).tolist()


# ---- modes and third parties' ops ---------------------------------------------------------------


def test_inference_mode():
    x = numbers()
    with torch.inference_mode():
        inference = x.clone()
        c = inference.conj()
        c.mul_(2j)
        assert (c.is_inference(), c.imag.is_inference(), x.conj().is_inference()) == (
            True,
            True,
            False,
        )
    assert inference.tolist() == (x.conj() * 2j).conj().tolist()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        c.mul_(2)


def test_custom_ops_are_given_plain_tensors():
    met = []

    @torch.library.custom_op("conjugates::turned", mutates_args={"x"})
    def turned(x: torch.Tensor, others: list[torch.Tensor]) -> torch.Tensor:
        met.extend(t._keys & UNRESOLVED for t in (x, *others))
        x.mul_(1j)
        for other in others:
            x.add_(other)
        return x * 2

    def run(x, turn):
        c = x.conj()
        result = turn(c, [c.clone().conj(), c.clone().conj().conj()])
        return result.tolist(), x.tolist(), c.tolist()

    def by_hand(c, others):
        c.copy_(c * 1j + others[0] + others[1])
        return c * 2

    assert run(numbers(), turned) == run(numbers(), by_hand)
    with torch.pipeline():
        assert run(numbers(), turned) == run(numbers(), by_hand)
    assert len(met) == 6
    assert not any(met)


def test_dispatch_modes_see_what_is_computed():
    names = []

    class Seen(torch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    c = numbers().conj()
    with Seen():
        assert c.view(3, 1).is_conj()
        assert not (c + 1).is_conj()
    assert names == ["aten.view.default", "aten._conj_physical.default", "aten.add.Tensor"]


def test_explanations_name_the_key():
    c = numbers().conj()
    text = str(explain("mul", c, 2))
    assert "Conjugate        CHOSEN   conjugate_kernel" in text
    assert "a composition: the ops it is made of come here" in str(explain("narrow", c, 0, 0, 1))


# ---- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["deepcopy", "pickle", "save"])
def test_copies_share_memory_as_the_originals_do(how):
    x = numbers()
    if how == "deepcopy":
        y, c, i = copy.deepcopy([x, x.conj(), x.conj().imag])
    elif how == "pickle":
        y, c, i = pickle.loads(pickle.dumps([x, x.conj(), x.conj().imag]))
    else:
        file = io.BytesIO()
        torch.save([x, x.conj(), x.conj().imag], file)
        file.seek(0)
        y, c, i = torch.load(file)
    assert (c.is_conj(), i.is_neg()) == (True, True)
    c.mul_(2j)
    assert y.tolist() == (x.conj() * 2j).conj().tolist()
    assert i.tolist() == c.imag.tolist()
    assert x.tolist() == numbers().tolist()


def test_arrays_and_capsules_are_refused():
    c = numbers().conj()
    with pytest.raises(RuntimeError, match=r"conjugate bit set. Use tensor.resolve_conj\(\).numpy"):
        c.numpy()
    with pytest.raises(BufferError, match="negative bit set"):
        c.imag.__dlpack__()
    assert c.resolve_conj().numpy().tolist() == c.numpy(force=True).tolist() == c.tolist()


def test_others_have_no_such_key():
    """A tensor without a mark meets nothing of this: its keys are what they always were."""
    x = numbers()
    for t in (
        x,
        x + 1,
        x.conj() + 1,
        x.conj().conj(),
        x.conj().resolve_conj(),
        x.imag,
        x.conj().real,
    ):
        assert not t._keys & UNRESOLVED
    assert (x.conj().conj())._keys == x._keys
