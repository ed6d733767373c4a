"""Parts of checkpoints: what is kept by a policy, whatever an op returns; settings of blocks; their refusals."""

import functools

import pytest

import mindtorch_core as torch
from mindtorch_core.utils import checkpoint as ours

pt = pytest.importorskip("torch")


def parts(lib):
    return ours if lib is torch else pytest.importorskip("torch.utils.checkpoint")


def selective(lib, policy, function, x):
    module = parts(lib)
    contexts = functools.partial(module.create_selective_checkpoint_contexts, policy)
    y = module.checkpoint(
        function, x, use_reentrant=False, context_fn=contexts, preserve_rng_state=False
    )
    y.sum().backward()
    return y.tolist(), x.grad.tolist()


def mixed(lib):
    """Ops that return tensors, numbers and truths, and one that no policy is asked about."""

    def run(v):
        same = lib.allclose(v, v)
        weight = v.detach().sum().item() if same else 0
        return (v * weight).sin()

    return run


@pytest.mark.parametrize(
    "chosen", ["MUST_SAVE", "PREFER_SAVE", "MUST_RECOMPUTE", "PREFER_RECOMPUTE", True, False]
)
def test_whatever_ops_return_is_kept(chosen):
    found = []
    for lib in (torch, pt):
        seen = []

        def policy(context, op, *args, lib=lib, seen=seen, **kwargs):
            seen.append((str(op), context.is_recompute))
            return chosen if isinstance(chosen, bool) else parts(lib).CheckpointPolicy[chosen]

        x = lib.tensor([[0.5, 1.0]], requires_grad=True)
        y, g = selective(lib, policy, mixed(lib), x)
        plain = lib.tensor([[0.5, 1.0]], requires_grad=True)
        mixed(lib)(plain).sum().backward()
        assert g == plain.grad.tolist()
        found.append((seen, [[round(v, 5) for v in row] for row in y]))
    assert found[0] == found[1]


def test_what_is_kept_may_lie_on_the_host(toy):
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(toy.KERNELS, "sum", toy.total)
        x = torch.tensor([2.0, 3.0]).to("toy:1").requires_grad_()
        policy = lambda *_, **__: ours.CheckpointPolicy.MUST_CPU_OFFLOAD  # noqa: E731
        y, g = selective(torch, policy, lambda v: (v * v) * v, x)
    assert (y, g) == ([8, 27], [12, 27])
    assert str(x.grad.device) == "toy:1"


@pytest.mark.parametrize("debug", [True, False, None])
def test_a_block_decides_whether_differences_are_explained(debug):
    for lib in (torch, pt):
        module, runs = parts(lib), []

        def unlike(v, runs=runs):
            runs.append(1)
            return v.sin().cos() if len(runs) == 1 else v.sin()

        x = lib.ones(2, requires_grad=True)
        with module.set_checkpoint_debug_enabled(debug):
            y = module.checkpoint(unlike, x, use_reentrant=False)
        with pytest.raises(module.CheckpointError) as error:
            y.sum().backward()
        assert len(runs) == 2
        if lib is torch:
            assert ("sin" in str(error.value)) is (debug is True)


def test_states_of_no_device():
    for lib in (torch, pt):
        module = parts(lib)
        assert module.get_device_states(lib.ones(2), [lib.ones(2)]) == ([], [])
        assert module.set_device_states([], []) is None
        assert module.set_device_states([], [], device_type="meta") is None


def test_arguments_that_are_no_tuple():
    for lib in (torch, pt):
        with pytest.raises(
            RuntimeError, match=r"Only tuple of tensors is supported. Got Unsupported input"
        ):
            parts(lib).detach_variable([lib.ones(1)])
        x = lib.ones(1, requires_grad=True)
        one, two, three = parts(lib).detach_variable((x * 2, x.detach(), 3))
        assert (one.requires_grad, one.is_leaf, two.requires_grad, three) == (True, True, False, 3)
