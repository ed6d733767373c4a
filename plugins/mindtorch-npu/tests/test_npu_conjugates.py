"""Conjugate and negative views on NPUs, whose kernels know nothing of them: the CPU gives the same."""

import contextlib

import pytest

import mindtorch_core as torch


def program(device, deferred):
    """Views, reads and writes; every tensor at the end, on the CPU."""
    x = torch.tensor([1 + 2j, 3 - 1j, -2 + 0.5j], device=device)
    with torch.pipeline() if deferred else contextlib.nullcontext():
        c = x.conj()
        assert c.is_conj()
        c.mul_(2j)
        x.conj()[1:].imag.add_(1)
        c.view(3, 1).t()[0, :2].copy_(torch.tensor([1j, 2 + 1j], device=device))
        torch.mul(x, 1 - 1j, out=c)
        made = [c * x, torch.cat([c, x]), c.real + c.imag, c.clone(), c.exp()]
    assert (c.is_conj(), c.imag.is_neg()) == (True, True)
    assert not any(t.is_conj() for t in made)
    return [t.cpu() for t in (x, c, c.imag, *made)]


@pytest.mark.parametrize("deferred", [False, True])
def test_views_are_read_and_written(npu, deferred):
    for found, wanted in zip(program("npu", deferred), program("cpu", deferred), strict=True):
        torch.testing.assert_close(found, wanted)
