"""What parameters without shapes and the functions of `nn.utils` do that few programs ask for, beside PyTorch."""

from importlib import import_module

import pytest

import mindtorch_core as torch
from mindtorch_core import nn
from same_results import names_of, results_are, scenarios_are


def filled(module):
    for n, p in enumerate(module.parameters()):
        p.data = (p.data * 0 + 1).cumsum(-1) / (n + 4)
    return module


names = names_of(
    "nn.utils.parametrize",
    "nn.utils.parametrizations",
    "nn.utils.prune",
    "nn.utils.rnn",
    "nn.attention",
    some=lambda lib: (
        lambda *shape: lib.arange(1.0, 1 + lib.Size(shape).numel()).reshape(shape) / 10
    ),
    t=lambda lib: lib.tensor,
    lazy=lambda lib: lib.nn.UninitializedParameter,
    buffer=lambda lib: lib.nn.UninitializedBuffer,
    filled=lambda lib: filled,
)

test_parameters_without_shapes = results_are(
    """
    lazy().is_meta
    lazy(device="meta").is_meta
    lazy().requires_grad
    lazy(requires_grad=False).requires_grad
    type(lazy().data).__name__
    lazy(dtype=torch.float64).dtype
    lazy().to(torch.float64).dtype
    lazy().half().requires_grad
    repr(lazy())
    repr(buffer())
    ! lazy().shape
    ! lazy().share_memory_()
    ! buffer().shape
    """,
    names,
)

test_utils = results_are(
    """
    nn.utils.parameters_to_vector([some(2, 2), some(3)])
    ! nn.utils.vector_to_parameters([1.0], [nn.Parameter(some(2))])
    nn.utils.convert_conv2d_weight_memory_format(nn.Conv2d(2, 2, 2), torch.channels_last).weight.stride()
    nn.utils.convert_conv2d_weight_memory_format(nn.Sequential(nn.ConvTranspose2d(2, 3, 2)), torch.channels_last)[0].weight.stride()
    nn.utils.convert_conv2d_weight_memory_format(nn.Linear(2, 3), torch.channels_last).weight.stride()
    nn.utils.convert_conv3d_weight_memory_format(nn.Conv3d(2, 2, 2), torch.channels_last_3d).weight.stride()
    nn.utils.convert_conv3d_weight_memory_format(nn.ConvTranspose3d(2, 3, 2), torch.channels_last_3d).weight.stride()
    nn.utils.convert_conv2d_weight_memory_format(filled(nn.Conv2d(2, 2, 2)), torch.channels_last).weight
    parametrizations.spectral_norm(filled(nn.PReLU(3))).weight
    ! parametrizations.spectral_norm(nn.Linear(2, 2), "none")
    ! parametrizations.weight_norm(nn.Linear(2, 2), "none")
    ! parametrizations.orthogonal(nn.PReLU(3))
    ! parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="none")
    ! parametrize.register_parametrization(nn.Linear(2, 2), "none", nn.ReLU())
    ! parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Flatten(0))
    ! parametrize.remove_parametrizations(nn.Linear(2, 2), "weight")
    ! prune.l1_unstructured(nn.Linear(2, 2), "weight", amount=5)
    ! prune.l1_unstructured(nn.Linear(2, 2), "weight", amount=1.5)
    ! prune.remove(nn.Linear(2, 2), "weight")
    ! prune.random_structured(nn.PReLU(3), "weight", 1, 0)
    ! prune.ln_structured(nn.Linear(2, 2), "weight", 1, 2, 5)
    ! rnn.PackedSequence(some(3))
    rnn.PackedSequence((some(3), t([2, 1]))).batch_sizes
    rnn.PackedSequence([some(3), t([2, 1])]).data
    rnn.PackedSequence(some(3), t([2, 1]), t([1, 0])).unsorted_indices
    rnn.pack_sequence([some(3), some(2)]).double().data
    rnn.pack_sequence([some(3), some(2)]).cpu().is_pinned()
    """,
    names,
)


def several_prunings(lib):
    """Hooks that somebody put there himself."""
    prune, m = lib.nn.utils.prune, lib.nn.Linear(2, 2)
    for _ in range(2):
        method = prune.Identity()
        method._tensor_name = "weight"
        m.register_forward_pre_hook(method)
    prune.identity(m, "weight")


def parametrized_twice(lib):
    """The next one has to fit, also backwards."""
    P, found = lib.nn.utils.parametrize, []

    def kind(forward, back):
        class Own(lib.nn.Module):
            def forward(self, x):
                return forward(x)

        if back is not None:
            Own.right_inverse = lambda self, x: back(x)
        return Own()

    def no(x):
        raise NotImplementedError

    for forward, back in (
        (lambda x: x * 2, no),
        (lambda x: x * 2, None),
        (lambda x: x * 2, lambda x: x / 2),
        (lambda x: x * 2, lambda x: (x, x)),
        (lambda x: x * 2, lambda x: x.double()),
        (lambda x: x * 2, lambda x: x[:1]),
        (lambda x: x.double(), None),
        (lambda x: x[:1], None),
        (lambda x: 3, None),
    ):
        m = filled(lib.nn.Linear(2, 2))
        P.register_parametrization(m, "weight", kind(lambda x: x + 1, lambda x: x - 1))
        try:
            P.register_parametrization(m, "weight", kind(forward, back))
        except (ValueError, TypeError) as error:
            found.append((type(error).__name__, len(m.parametrizations.weight)))
        else:
            found.append((m.weight, len(m.parametrizations.weight)))
    return found


def parametrized_buffers(lib):
    """A buffer becomes one again."""
    P, m = lib.nn.utils.parametrize, lib.nn.Module()
    m.register_buffer("b", lib.ones(2))
    P.register_parametrization(m, "b", lib.nn.Tanh())
    before = m.b, [k for k, _ in m.named_buffers()], [k for k, _ in m.named_parameters()]
    P.remove_parametrizations(m, "b")
    return before, m.b, [k for k, _ in m.named_buffers()], type(m).__name__


def norms_of_old_states(lib):
    """States of versions that kept one of two vectors, and of whole weights."""
    m = filled(lib.nn.Linear(3, 2))
    m = lib.nn.utils.spectral_norm(m)
    m.weight_u.copy_(lib.tensor([0.6, 0.8]))
    m.weight_v.copy_(lib.tensor([0.0, 0.6, 0.8]))
    m.eval()
    m(lib.ones(1, 3))
    state = m.state_dict()
    v = state.pop("weight_v")
    state["weight"] = m.weight.detach().clone()
    state._metadata[""].pop("spectral_norm")
    other = lib.nn.utils.spectral_norm(lib.nn.Linear(3, 2))
    keys = other.load_state_dict(state)
    found = [
        keys,
        other.weight_v * v.norm() / other.weight_v.norm(),
        other.weight_orig,
        sorted(state),
    ]
    for lacking in ("weight_orig", "weight", "weight_u"):
        part = state.copy()
        part._metadata = state._metadata
        part.pop(lacking)
        made = lib.nn.utils.spectral_norm(lib.nn.Linear(3, 2))
        try:
            found.append(made.load_state_dict(part))
        except RuntimeError as error:
            found.append(sorted(str(error).replace('"', "").split()))
        found.append([sorted(each) for each in made.load_state_dict(part, strict=False)])
    return found


def noted_twice(lib):
    m = lib.nn.utils.spectral_norm(lib.nn.Linear(3, 2))
    for hook in m._state_dict_hooks.values():
        m._register_state_dict_hook(hook)
        break
    m.state_dict()


def orders_of_kernels(lib):
    """What a block allows, and what there is after it."""
    A = lib.nn.attention
    B = A.SDPBackend
    found = []
    for given in (B.MATH, [B.MATH, B.FLASH_ATTENTION]):
        for priority in (False, True):
            with A.sdpa_kernel(given, set_priority=priority):
                found.append(sorted(each.name for each in A._cur_sdpa_kernel_backends()))
    return found, sorted(each.name for each in A._cur_sdpa_kernel_backends())


def functions_of_biases(lib):
    """A causal bias within another function is a tensor without elements."""
    bias = import_module(f"{lib.__name__}.nn.attention.bias").causal_upper_left(2, 3)
    q, k = lib.ones(1, 1, 2, 4), lib.arange(12.0).reshape(1, 1, 3, 4)
    attend = lib.nn.functional.scaled_dot_product_attention
    return type(bias).__name__, attend(q, k, k, attn_mask=bias), repr(bias)


test_of_utils = scenarios_are(
    several_prunings,
    parametrized_twice,
    parametrized_buffers,
    norms_of_old_states,
    noted_twice,
    orders_of_kernels,
    functions_of_biases,
)


@pytest.mark.parametrize(
    "use", [lambda p: p.numel(), lambda p: p + 1, lambda p: p.view(2), lambda p: torch.add(p, 1)]
)
def test_there_is_nothing_to_use_yet(use):
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
        use(nn.UninitializedParameter())


@pytest.mark.parametrize("first", [True, False])
def test_whether_a_parameter_without_shape_will_require_grad(first):
    """PyTorch refuses to say it, but takes it when such a parameter is made."""
    p = nn.UninitializedParameter(requires_grad=first)
    assert p.requires_grad_(not first) is p
    assert p.requires_grad is not first
    assert type(p) is nn.UninitializedParameter
    p.requires_grad = first
    assert p.requires_grad is first
    p.materialize((2,))
    assert (p.requires_grad, p.shape) == (first, (2,))


def test_parameters_of_two_devices_are_no_vector():
    with pytest.raises(TypeError, match="Found two parameters on different devices"):
        nn.utils.parameters_to_vector([torch.ones(2), torch.empty(2, device="meta")])


def test_sizes_of_batches_lie_on_the_cpu():
    sizes = torch.empty(2, dtype=torch.int64, device="meta")
    with pytest.raises(ValueError, match="batch_sizes should always be on CPU"):
        nn.utils.rnn.PackedSequence(torch.ones(3), sizes)


@pytest.mark.parametrize(
    ("given", "text"),
    [([], "at least one backend"), ([3], "must be an instance of SDPBackend or a list")],
)
def test_blocks_of_no_kernels(given, text):
    before = nn.attention._cur_sdpa_kernel_backends()
    with pytest.raises(AssertionError, match=text), nn.attention.sdpa_kernel(given):
        pass
    assert nn.attention._cur_sdpa_kernel_backends() == before
