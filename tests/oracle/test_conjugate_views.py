"""Conjugate and negative views against PyTorch: which results are such views, what they show, what is
refused, and gradients through changes in place.
"""

import copy
import io
import pickle

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_same_outcome

pt = pytest.importorskip("torch")


def numbers(lib):
    """Complex numbers, none of which is its own conjugate."""
    return lib.tensor([0.25 + 0.5j, -0.5 + 1j, 2 - 3j])


def shown(value):
    """What is compared of a result: of tensors the marks, the shape and the elements."""
    if isinstance(value, torch.Tensor | pt.Tensor):
        elements = "none" if value.is_meta else value.tolist()
        return value.is_conj(), value.is_neg(), tuple(value.shape), elements
    if isinstance(value, list | tuple):
        return type(value)(map(shown, value))
    return value


def both(call):
    """Run a program on both libraries, which have to agree in results or types and texts of errors."""
    try:
        wanted = shown(call(pt))
    except Exception as error:  # noqa: BLE001 (whatever PyTorch raises)
        with pytest.raises(type(error)) as raised:
            call(torch)
        if "conj" in str(error) or "neg" in str(error):
            wanted = str(error).replace(".  ", ". ").splitlines()[0]
            assert str(raised.value).startswith(wanted)
    else:
        assert shown(call(torch)) == wanted


def stored(lib, value):
    """What `save` and `load` make of a value."""
    file = io.BytesIO()
    lib.save(value, file)
    file.seek(0)
    return lib.load(file)


READS = {
    "clone": lambda lib, c: c.clone(),
    "clone in a format": lambda lib, c: c.clone(memory_format=lib.contiguous_format),
    "contiguous": lambda lib, c: (c.contiguous(), c.contiguous() is c),
    "detach": lambda lib, c: c.detach(),
    "data": lambda lib, c: c.data,
    "numpy": lambda lib, c: c.numpy(),
    "numpy by force": lambda lib, c: c.numpy(force=True).tolist(),
    "asarray": lambda lib, c: np.asarray(c),
    "tolist": lambda lib, c: c.tolist(),
    "text": lambda lib, c: str(c),
    "item": lambda lib, c: (c[0].item(), complex(c[0]), f"{c[0]}"),
    "iterated": lambda lib, c: list(c),
    "address": lambda lib, c: c.data_ptr() == c.conj().data_ptr(),
    "storage": lambda lib, c: bytes(c.untyped_storage()),
    "dlpack": lambda lib, c: c.__dlpack__(),
    "view_as_real": lambda lib, c: lib.view_as_real(c),
    "other bits": lambda lib, c: c.view(lib.float32),
    "same bits": lambda lib, c: c.view(lib.complex64),
    "imag": lambda lib, c: c.imag,
    "real": lambda lib, c: (c.real, lib.real(c), c.real._is_view()),
    "imag cloned": lambda lib, c: c.imag.clone(),
    "imag as array": lambda lib, c: c.imag.numpy(),
    "imag of other bits": lambda lib, c: c.imag.view(lib.int32),
    "other dtype": lambda lib, c: c.to(lib.complex128),
    "copied": lambda lib, c: c.to(c.dtype, copy=True),
    "same dtype": lambda lib, c: (c.to(c.dtype), c.to(c.dtype) is c),
    "meta": lambda lib, c: (c.to("meta"), c.to("meta").conj()),
    "shallow copy": lambda lib, c: copy.copy(c),
    "saved": lambda lib, c: (stored(lib, [c, c.conj()]), stored(lib, c.imag)),
    "pickled": lambda lib, c: pickle.loads(pickle.dumps(c)),
    "set_": lambda lib, c: lib.empty(0, dtype=c.dtype).set_(c),
    "set_ to others": lambda lib, c: c.set_(lib.ones(2, dtype=c.dtype) * 1j),
    "set_ to nothing": lambda lib, c: c.set_(),
    "smaller": lambda lib, c: c.resize_(2),
    "larger": lambda lib, c: c.resize_(7)[:3],
    "empty_like": lambda lib, c: lib.empty_like(c).is_conj(),
    "zeros_like": lambda lib, c: lib.zeros_like(c),
    "new_zeros": lambda lib, c: c.new_zeros(2),
    "conj": lambda lib, c: (c.conj(), c.conj()._is_view()),
    "resolve_conj": lambda lib, c: (c.resolve_conj(), c.conj().resolve_conj()),
    "resolve_neg": lambda lib, c: (c.imag.resolve_neg(), c.resolve_neg() is c),
    "conj_physical": lambda lib, c: c.conj_physical(),
    "_conj_physical": lambda lib, c: lib._conj_physical(c),
    "_conj": lambda lib, c: lib._conj(c),
    "_conj of real numbers": lambda lib, c: lib._conj(lib.ones(2)),
    "conj of real numbers": lambda lib, c: (r := lib.ones(2)).conj() is r,
    "_neg_view": lambda lib, c: (c._neg_view(), c._neg_view()._neg_view(), c._neg_view().conj()),
    "_neg_view of ints": lambda lib, c: lib._neg_view(lib.arange(3)),
    "parts of a negative": lambda lib, c: (c._neg_view().imag, c._neg_view().real),
    "parts of a plain negative": lambda lib, c: c.conj()._neg_view().imag,
    "pairs of negatives": lambda lib, c: lib.view_as_complex(lib.ones(2, 2)._neg_view()),
    "negatives as pairs": lambda lib, c: lib.view_as_real(c.conj()._neg_view()),
    "product": lambda lib, c: c * c,
    "negated": lambda lib, c: -c.imag,
    "reshaped": lambda lib, c: c.reshape(3, 1),
    "reshaped by a copy": lambda lib, c: c.expand(2, 3).reshape(6),
    "slice": lambda lib, c: c[1:],
    "index": lambda lib, c: c[lib.tensor([0])],
    "mask": lambda lib, c: c[lib.tensor([True, False, True])],
    "expanded": lambda lib, c: c.expand(2, 3),
    "unsqueeze_": lambda lib, c: c.unsqueeze_(0),
    "as_strided": lambda lib, c: c.as_strided((2,), (1,)),
    "H": lambda lib, c: (c.reshape(1, 3).H, c.reshape(1, 3).mH, c.reshape(1, 3).adjoint()),
    "same memory": lambda lib, c: (c.is_set_to(c.conj()), c.conj().is_set_to(c)),
    "cat": lambda lib, c: (lib.cat([c, c]), lib.stack([c, c.conj()])),
    "parts": lambda lib, c: (c.split(1), c.unbind(), c.chunk(2), c.tensor_split(2)),
    "flip": lambda lib, c: c.flip(0),
    "positive": lambda lib, c: c.positive(),
    "unfold": lambda lib, c: c.unfold(0, 2, 1),
    "copies of views": lambda lib, c: (lib.detach_copy(c), lib.view_copy(c, (3,))),
    "flatten": lambda lib, c: (c.flatten(), c.ravel(), c.view(-1), c.view(3, 1).t()),
    "broadcast": lambda lib, c: lib.broadcast_tensors(c, c.conj()),
    "diagonal": lambda lib, c: c.conj().repeat(3, 1).conj().diagonal(),
    "repeat": lambda lib, c: c.repeat(2),
    "equal": lambda lib, c: (lib.equal(c, c.clone()), lib.equal(c, c.conj())),
    "functions": lambda lib, c: (lib.is_conj(c), lib.is_neg(c), lib.is_complex(c)),
    "matmul": lambda lib, c: (c.reshape(1, 3) @ c.conj(), lib.vdot(c, c.conj()), c.abs().sum()),
    "inference": lambda lib, c: lib.inference_mode()(
        lambda: (c.conj(), c[1:], c + 0, c.clone().conj())
    )(),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_reads(read):
    both(lambda lib: read(lib, numbers(lib).conj()))


def out_of_other_shape(lib, x, c):
    empty = lib.empty(0, dtype=c.dtype).conj()
    return lib.add(lib.ones(3) * 1j, 1, out=empty)


WRITES = {
    "mul_": lambda lib, x, c: c.mul_(2j),
    "of the base": lambda lib, x, c: x.mul_(2j),
    "imag": lambda lib, x, c: c.imag.add_(1),
    "real": lambda lib, x, c: c.real.add_(1),
    "part": lambda lib, x, c: c[0].fill_(7j),
    "item": lambda lib, x, c: c.__setitem__(slice(1, None), 3j),
    "items": lambda lib, x, c: c.__setitem__(lib.tensor([True, False, True]), 3j),
    "copy_": lambda lib, x, c: c.copy_(lib.tensor([1j, 2j, 3j])),
    "copy_ of ints": lambda lib, x, c: c.copy_(lib.tensor([1, 2, 3])),
    "copy_ of bools": lambda lib, x, c: c.imag.copy_(lib.tensor([True, False, True])),
    "copy_ to imag": lambda lib, x, c: c.imag.copy_(lib.tensor([1, 2, 3])),
    "copy_ of another": lambda lib, x, c: c.copy_(x.clone().conj()),
    "copy_ of itself": lambda lib, x, c: c.copy_(c),
    "copy_ of its base": lambda lib, x, c: c.copy_(x),
    "copy_ to its base": lambda lib, x, c: x.copy_(c),
    "index_put_": lambda lib, x, c: c.index_put_((lib.tensor([0, 2]),), lib.tensor([5j, 6j])),
    "zero_": lambda lib, x, c: c.zero_(),
    "of a view": lambda lib, x, c: c.view(3, 1).t().add_(1j),
    "masked_fill_": lambda lib, x, c: c.masked_fill_(lib.tensor([True, False, True]), 1j),
    "out": lambda lib, x, c: lib.mul(x, 1j, out=c),
    "out of a part": lambda lib, x, c: lib.mul(x[1:], 1j, out=c[:2]),
    "out of several": lambda lib, x, c: lib.max(
        lib.tensor([[1.0, 2.0]] * 3), 1, out=(c.imag, lib.ones(3).long())
    ),
    "out of other shape": out_of_other_shape,
    "of both marks": lambda lib, x, c: c._neg_view().add_(1 + 1j),
    "operand is itself": lambda lib, x, c: c.add_(c),
    "operand is the base": lambda lib, x, c: c.add_(x.clone()),
    "operand is a part": lambda lib, x, c: c.add_(x[0]),
    "operand is conjugated": lambda lib, x, c: x.add_(c),
    "addcmul_": lambda lib, x, c: c.addcmul_(c, c),
    "conj_physical_": lambda lib, x, c: c.conj_physical_(),
    "data": lambda lib, x, c: setattr(c, "data", lib.ones(2) * 1j),
    "data of another": lambda lib, x, c: setattr(x, "data", c * 1j),
    "foreign data": lambda lib, x, c: setattr(x, "data", (c * 1j).conj()),
    "round": lambda lib, x, c: c.imag.round_(),
    "sort": lambda lib, x, c: lib.sort(x.real, out=(c.imag, lib.ones(3).long())),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_writes(write):
    def call(lib):
        x = numbers(lib)
        c = x.conj()
        result = write(lib, x, c)
        return result, x, c, x._version, c._version

    both(call)


def leaf(lib):
    return lib.tensor(
        [0.25 + 0.5j, -0.5 + 1j, 2 - 3j, 1 + 1j], dtype=lib.complex128
    ).requires_grad_()


def several(b):
    c = b.conj()
    d = c.imag[1:]
    c.sin_()
    d.exp_()
    return c, d


def pairs(lib, b):
    r = lib.view_as_real(b)
    q = lib.view_as_complex(r)[1:3]
    q.mul_(2j)
    return r, q


def base_of_pairs(lib, b):
    d = lib.view_as_real(b).clone()
    q = lib.view_as_complex(d)
    q.mul_(2j)
    q.conj()[0].mul_(1j)
    return q, d


# What a non-leaf becomes; returns views of it.
CHANGES = {
    "conjugate": lambda lib, b: b.conj().mul_(2j),
    "imag": lambda lib, b: b.imag.mul_(2),
    "real": lambda lib, b: b.real.square_(),
    "imag of the conjugate": lambda lib, b: b.conj().imag.mul_(3),
    "part": lambda lib, b: b.conj()[1:].mul_(lib.tensor([1j, 2, 3])),
    "base": lambda lib, b: (b.conj(), b.mul_(1j))[0],
    "view of the changed": lambda lib, b: (b.conj().real, b.conj().exp_()),
    "pairs": lambda lib, b: lib.view_as_real(b)[:, 1].mul_(3),
    "transposed": lambda lib, b: b.conj().view(2, 2).t()[0].copy_(b[:2].detach() * 1j),
    "pairs and back": pairs,
    "base of pairs": base_of_pairs,
    "several": lambda lib, b: several(b),
    "negative": lambda lib, b: b._neg_view().mul_(b.detach().clone()),
    "operand is a part": lambda lib, b: b.conj().add_(b[0]),
    "filled": lambda lib, b: b.conj()[:2].fill_(1j),
    "repeated": lambda lib, b: b.conj()[:1].expand(3) * b.mul_(2)[0],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("deferred", [False, True], ids=["eager", "pipeline"])
def test_gradients_of_changed_views(change, deferred):
    def call(lib):
        a = leaf(lib)
        b = a * 1
        made = change(lib, b)
        total = 0
        for i, t in enumerate((b, *(made if isinstance(made, tuple) else (made,)))):
            weighted = t * t * (1.5 - 0.5j if t.is_complex() else 2) * (i + 1)
            total = total + (weighted.real if t.is_complex() else weighted).sum()
        return lib.autograd.grad(total, a)[0]

    def ours():
        if not deferred:
            return call(torch)
        with torch.pipeline():
            return call(torch)

    assert_same_outcome(ours, lambda: call(pt), rtol=1e-9, atol=1e-9)


FORMULAS = {
    "conj": lambda lib, a: a.conj() * a * a,
    "imag": lambda lib, a: a.conj().imag * a.real,
    "negative": lambda lib, a: a._neg_view() * a,
    "physical": lambda lib, a: a.conj().conj_physical() * a,
    "resolved": lambda lib, a: a.conj().resolve_conj() * a._neg_view().resolve_neg(),
    "adjoint": lambda lib, a: a.view(2, 2).mH @ a.view(2, 2),
    "exp": lambda lib, a: a.conj().exp(),
    "abs": lambda lib, a: a.conj().abs(),
    "views": lambda lib, a: a.conj().view(2, 2).t()[1] * a[0],
}


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS.keys())
def test_second_derivatives(formula):
    def call(lib):
        a = leaf(lib)
        value = formula(lib, a)
        value = value.real if value.is_complex() else value
        first = lib.autograd.grad(value.sum(), a, create_graph=True)[0]
        return first, lib.autograd.grad((first * first.conj()).real.sum(), a)[0]

    assert_same_outcome(lambda: call(torch), lambda: call(pt), rtol=1e-9, atol=1e-9)


def test_names_of_nodes():
    def names(lib):
        a = leaf(lib)
        made = (a.conj(), a._neg_view(), a.conj().resolve_conj(), a.conj_physical())
        return [t.grad_fn.name() for t in made]

    assert names(torch) == names(pt)


def test_files_are_read_by_the_other_library():
    for ours, theirs in ((torch, pt), (pt, torch)):
        x = numbers(ours)
        file = io.BytesIO()
        ours.save({"x": x, "c": x.conj()}, file)
        file.seek(0)
        loaded = theirs.load(file)
        loaded["c"].mul_(2j)
        assert loaded["c"].is_conj()
        assert loaded["c"].tolist() == (x.conj() * 2j).tolist()
        assert loaded["x"].tolist() == (x.conj() * 2j).conj().tolist()
        file = io.BytesIO()
        ours.save(x.conj().imag, file)
        file.seek(0)
        loaded = theirs.load(file)
        assert (loaded.is_neg(), loaded.tolist()) == (True, (-x.imag).tolist())
