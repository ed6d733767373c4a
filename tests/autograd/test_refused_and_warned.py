"""What autograd refuses, what it warns of, and paths that programs import: as PyTorch."""

import importlib
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch", reason="PyTorch is the oracle")


def hook_that_returns(lib):
    x = lib.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: t.grad)
    x.sum().backward()


def decorated_class(lib):
    @lib.no_grad()
    class Made:
        def __init__(self):
            self.recording = lib.is_grad_enabled()

    return Made().recording


def old_name(lib):
    class Old(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_variables[0]

    x = lib.tensor([3.0], requires_grad=True)
    Old.apply(x).backward()
    return x.grad.item()


def counted_in_inference(lib):
    with lib.inference_mode():
        t = lib.ones(2)
    lib.autograd.graph.increment_version(t)
    u = lib.ones(2)
    lib.autograd.graph.increment_version([u, t])
    return u._version


def constant_with_tangent(lib):
    class Constant(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            fixed = x.clone()
            ctx.mark_non_differentiable(fixed)
            return x.clone(), fixed

        @staticmethod
        def jvp(ctx, tangent):
            return tangent, tangent.clone()

    fw = lib.autograd.forward_ad
    with fw.dual_level():
        Constant.apply(fw.make_dual(lib.ones(2), lib.ones(2)))


def dirty(lib, jvp):
    class Doubled(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, tangent):
            return jvp(tangent)

    fw = lib.autograd.forward_ad
    with fw.dual_level():
        made = Doubled.apply(fw.make_dual(lib.ones(2), lib.ones(2)))
        return fw.unpack_dual(made).tangent.tolist()


CASES = {
    "hook that returns": (hook_that_returns, "hooks should return None"),
    "decorated class": (decorated_class, "Decorating classes is deprecated"),
    "old name": (old_name, "'saved_variables' is deprecated"),
    "counted in inference": (counted_in_inference, ""),
    "constant with tangent": (constant_with_tangent, "You should return None at that position instead"),
    "dirty, as it was": (lambda lib: dirty(lib, lambda t: t), "must modify the corresponding gradient inplace"),
    "dirty, another": (lambda lib: dirty(lib, lambda t: t * 2), "must modify the corresponding gradient inplace"),
    "dirty, in place": (lambda lib: dirty(lib, lambda t: t.mul_(2)), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name):
    call, phrase = CASES[name]
    told = []
    for lib in (torch, pt):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                said = [("value", str(call(lib)))]
            except RuntimeError as error:
                said = [(type(error).__name__, phrase in str(error))]
        said += [
            (w.category.__name__, phrase in str(w.message))
            for w in caught
            if "jit" not in str(w.message)
        ]
        told.append(said)
    assert told[0] == told[1]


def test_gradcheck_is_a_function_and_the_path_of_a_module():
    for root in ("mindtorch_core", "torch"):
        module = importlib.import_module(f"{root}.autograd.gradcheck")
        package = importlib.import_module(f"{root}.autograd")
        assert package.gradcheck is module.gradcheck, root
        assert issubclass(module.GradcheckError, RuntimeError)
        for name in ("grad_mode", "anomaly_mode"):
            assert getattr(package, name) is importlib.import_module(f"{root}.autograd.{name}")


@pytest.mark.parametrize("name", ["tensor", "tangent"])
def test_what_moves_and_its_tangent_are_tensors(name):
    given = {"tensor": torch.ones(2), "tangent": torch.ones(2)} | {name: 3}
    with (
        torch.autograd.forward_ad.dual_level(),
        pytest.raises(TypeError, match=rf"'{name}' .* must be Tensor, not int"),
    ):
        torch.autograd.forward_ad.make_dual(**given)
