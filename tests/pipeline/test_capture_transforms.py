"""`torch.pipeline.capture` and transformations: of captured functions there are none, but they can be captured."""

import pytest

import mindtorch_core as torch

func, forward_ad = torch.func, torch.autograd.forward_ad


def energy(x):
    return (x * x * 2 + x.sin()).sum()


TRANSFORMS = {
    "grad": func.grad,
    "vjp": lambda fn: lambda x: func.vjp(fn, x)[1](torch.tensor(1.0)),
    "jvp": lambda fn: lambda x: func.jvp(fn, (x,), (x,)),
    "hessian": func.hessian,
    "jacfwd": func.jacfwd,
    "vmap": torch.vmap,
}


def inputs(name, i):
    return torch.arange(6.0).reshape(2, 3) + i if name == "vmap" else torch.arange(3.0) + i


@pytest.mark.parametrize("recorded", [False, True], ids=["anew", "recorded"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_what_was_captured_is_not_transformed(name, recorded):
    """It would have had gradients of zero, one batch for all, and no tangents."""
    captured = torch.pipeline.capture(energy)
    if recorded:
        captured(torch.arange(3.0).requires_grad_(name in ("grad", "vjp")))
    with pytest.raises(torch.CaptureError, match=r"energy\(\)"):
        TRANSFORMS[name](captured)(inputs(name, 0))
    plain = torch.pipeline.capture(energy)
    assert plain(inputs(name, 1)).item() == energy(inputs(name, 1)).item()


@pytest.mark.parametrize("name", TRANSFORMS)
def test_what_is_transformed_is_captured(name):
    """Also where a part of it was captured by itself."""
    wanted = TRANSFORMS[name](energy)
    inner = TRANSFORMS[name](torch.pipeline.capture(energy))
    for captured in map(torch.pipeline.capture, (TRANSFORMS[name](energy), lambda x: inner(x))):
        for i in range(4):
            found, right = captured(inputs(name, i)), wanted(inputs(name, i))
            torch.testing.assert_close(found, right, rtol=0, atol=0)


def test_tangents_are_guarded():
    captured = torch.pipeline.capture(lambda x: x * x)
    captured(torch.ones(2))
    with forward_ad.dual_level():
        assert captured(torch.ones(2) * 3).tolist() == [9, 9]
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(torch.CaptureError, match="with a tangent"):
            captured(dual)
        with pytest.raises(torch.CaptureError, match="has no tangents"):
            torch.pipeline.capture(lambda x: x * x)(dual)


@pytest.mark.parametrize("first", [False, True], ids=["plain first", "conjugated first"])
def test_what_is_still_to_be_conjugated_is_guarded(first):
    """The two have the same shape, strides and dtype."""
    x = torch.tensor([1 + 2j, 3 - 4j])
    captured = torch.pipeline.capture(lambda x: x * 2)
    for _ in range(2):
        given = x.conj() if first else x
        assert captured(given).tolist() == (given.resolve_conj() * 2).tolist()
    with pytest.raises(torch.CaptureError, match="to be conjugated or negated"):
        captured(x if first else x.conj())


def test_what_is_still_to_be_negated_is_guarded():
    captured = torch.pipeline.capture(lambda x: x * 2)
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert captured(x.imag).tolist() == [4, -8]
    with pytest.raises(torch.CaptureError, match="to be conjugated or negated"):
        captured(x.conj().imag)
