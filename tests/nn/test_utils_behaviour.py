"""Utilities of modules and initialisation agree with PyTorch's."""

import copy
from importlib import import_module

import pytest
import pytorchs_biases  # noqa: F401
import torch.nn.utils.prune  # noqa: F401  (PyTorch does not import it itself)
from collecting import Scenarios
from module_scenarios import attempt, fill, numbers, play, values, warned

import mindtorch_core as mt

scenario = Scenarios()


def linear(t, n=3, m=2):
    return fill(t, t.nn.Linear(n, m))


@scenario
def clipping(t):
    def grads(p=None):
        m = linear(t)
        m(t.ones(2, 3)).sum().backward()
        return m

    m = grads()
    total = t.nn.utils.clip_grad_norm_(m.parameters(), 0.5)
    found = [numbers(total), numbers(m.weight.grad)]
    m = grads()
    m.weight.grad.copy_(values(t, 2, 3))  # of both signs
    t.nn.utils.clip_grad_value_(m.parameters(), 0.3)
    found.append(numbers(m.weight.grad))
    m = grads()
    norm = t.nn.utils.get_total_norm([p.grad for p in m.parameters()], float("inf"))
    t.nn.utils.clip_grads_with_norm_(m.parameters(), 1.0, norm)
    m.weight.grad[0, 0] = float("nan")
    error = attempt(
        lambda: t.nn.utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)
    )
    return [
        *found,
        numbers(norm),
        numbers(m.bias.grad),
        error[0],
        t.nn.utils.clip_grad_norm_([], 1.0).item(),
    ]


@scenario
def vectors(t):
    m = linear(t)
    v = t.nn.utils.parameters_to_vector(m.parameters())
    t.nn.utils.vector_to_parameters(v.detach() * 2, m.parameters())
    return [
        numbers(v),
        numbers(m.weight),
        v.requires_grad,
        attempt(lambda: t.nn.utils.vector_to_parameters(3, []))[0],
    ]


class Symmetric:
    """A parametrization for either library."""

    def __new__(cls, t, inverse=True):
        class Made(t.nn.Module):
            def forward(self, x):
                return x.triu() + x.triu(1).transpose(-1, -2)

            if inverse:

                def right_inverse(self, x):
                    return x.triu()

        return Made()


@scenario
def parametrized_modules(t):
    p = t.nn.utils.parametrize
    m = linear(t, 3, 3)
    p.register_parametrization(m, "weight", Symmetric(t))
    found = [
        repr(m),
        numbers(m.weight),
        [n for n, _ in m.named_parameters()],
        p.is_parametrized(m),
        p.is_parametrized(m, "bias"),
        p.type_before_parametrizations(m).__name__,
    ]
    m.weight = values(t, 3, 3, scale=3.0)
    m(t.ones(1, 3)).sum().backward()
    found += [numbers(m.weight), numbers(m.parametrizations.weight.original.grad)]
    with p.cached():
        found.append(m.weight is m.weight)
    found += [m.weight is m.weight, list(m.state_dict())]
    found.append(numbers(copy.deepcopy(m).weight))
    p.remove_parametrizations(m, "weight")
    found += [type(m).__name__, numbers(m.weight), [n for n, _ in m.named_parameters()]]
    other = linear(t, 3, 3)
    p.register_parametrization(other, "weight", Symmetric(t))
    p.remove_parametrizations(other, "weight", leave_parametrized=False)
    return [*found, numbers(other.weight)]


@scenario
def parametrizations_that_do_not_fit(t):
    p = t.nn.utils.parametrize

    class Longer(t.nn.Module):
        def forward(self, x):
            return t.cat([x, x])

    class Number(t.nn.Module):
        def forward(self, x):
            return 3

    m = linear(t)
    fixed = linear(t, 3, 3)
    p.register_parametrization(fixed, "weight", Symmetric(t, inverse=False))
    return [
        attempt(lambda: p.register_parametrization(m, "weight", Longer()))[0],
        attempt(lambda: p.register_parametrization(m, "weight", Number())),
        attempt(lambda: p.register_parametrization(m, "no", Number()))[0],
        attempt(lambda: setattr(fixed, "weight", t.ones(3, 3)))[0],
        attempt(lambda: p.remove_parametrizations(m, "weight"))[0],
        attempt(lambda: fixed.__getstate__())[0],
    ]


@scenario
def weight_norms(t):
    m = t.nn.utils.parametrizations.weight_norm(linear(t), dim=0)
    m(t.ones(1, 3)).sum().backward()
    found = [
        numbers(m.weight),
        [(n, tuple(p.shape), numbers(p.grad)) for n, p in m.named_parameters()],
    ]
    old = t.nn.utils.weight_norm(linear(t))
    old(t.ones(1, 3)).sum().backward()
    state = old.state_dict()
    found += [list(state), numbers(old.weight_g.grad), numbers(old.weight_v.grad)]
    m.load_state_dict(state)  # files of the older one fit the newer one
    t.nn.utils.remove_weight_norm(old)
    whole = t.nn.utils.parametrizations.weight_norm(linear(t), dim=None)
    return [*found, numbers(old.weight), list(old.state_dict()), numbers(whole.weight), repr(m)]


@scenario
def norms_registered_twice_and_removed_twice(t):
    u, found = t.nn.utils, []
    for wrap, remove in (
        (u.weight_norm, u.remove_weight_norm),
        (u.spectral_norm, u.remove_spectral_norm),
    ):
        m = wrap(linear(t))
        found += [
            attempt(lambda m=m, wrap=wrap: wrap(m)),
            attempt(lambda m=m, wrap=wrap: wrap(m, "bias"))[0],
            len(m._forward_pre_hooks),
        ]
        remove(m)
        found += [attempt(lambda m=m, remove=remove: remove(m))[0], len(m._forward_pre_hooks)]
    return found


@scenario
def transferred_parametrizations(t):
    p = t.nn.utils.parametrize

    class Times(t.nn.Module):
        def __init__(self, by):
            super().__init__()
            self.by = t.nn.Parameter(t.tensor(by))

        def forward(self, w):
            return w * self.by

    a, found = linear(t), []
    p.register_parametrization(a, "weight", Times(2.0))
    p.register_parametrization(a, "weight", Times(3.0))
    p.register_parametrization(a, "bias", Times(5.0))
    for name in ("weight", None):
        b = linear(t)
        given = p.transfer_parametrizations_and_params(a, b, tensor_name=name)
        found += [
            given is b, p.is_parametrized(b, "weight"), p.is_parametrized(b, "bias"),
            numbers(b(t.ones(1, 3))), sorted(b.state_dict()), p.type_before_parametrizations(b) is t.nn.Linear,
        ]  # fmt: skip
    bare = t.nn.Module()
    p.transfer_parametrizations_and_params(a, bare)
    found += [numbers(bare.weight), numbers(bare.bias), sorted(bare.state_dict())]
    c = linear(t)
    return [
        *found,
        p.transfer_parametrizations_and_params(c, b) is b,
        len(b.parametrizations.weight),
    ]


@scenario
def spectral_norms(t):
    found = []
    for wrap in (t.nn.utils.parametrizations.spectral_norm, t.nn.utils.spectral_norm):
        m = wrap(linear(t, 4, 3), n_power_iterations=20)
        for _ in range(3):
            m(t.ones(1, 4))
        m.eval()
        found += [
            round(t.linalg.svdvals(m.weight).max().item(), 3),
            numbers(m(t.ones(1, 4))),
            sorted(m.state_dict()),
            list(dict(m.named_parameters())),
        ]
    t.nn.utils.remove_spectral_norm(m)
    return [*found, list(m.state_dict())]


@scenario
def orthogonal_weights(t):
    found = []
    for shape in ((3, 3), (4, 2), (2, 4)):
        for name in ("matrix_exp", "cayley", "householder"):
            m = linear(t, *shape[::-1])
            t.nn.utils.parametrizations.orthogonal(m, orthogonal_map=name)
            w = m.weight if shape[0] <= shape[1] else m.weight.mT
            found.append((w @ w.mT - t.eye(min(shape))).abs().max().item() < 1e-4)
            m(t.ones(1, shape[1])).sum().backward()
            found.append(m.parametrizations.weight.original.grad.abs().sum().item() > 0)
            m.weight = t.eye(*shape)
            found.append((m.weight - t.eye(*shape)).abs().max().item() < 1e-4)
    found.append(attempt(lambda: t.nn.utils.parametrizations.orthogonal(linear(t), "bias"))[0])
    return [
        *found,
        attempt(lambda: t.nn.utils.parametrizations.orthogonal(linear(t), orthogonal_map="x")),
    ]


@scenario
def pruning(t):
    p = t.nn.utils.prune
    m = linear(t, 4, 3)
    p.l1_unstructured(m, "weight", 0.25)
    found = [numbers(m.weight), sorted(m.state_dict()), p.is_pruned(m)]
    p.ln_structured(m, "weight", amount=1, n=2, dim=0)
    found += [numbers(m.weight), numbers(m.weight_mask), len(m._forward_pre_hooks)]
    m(t.ones(1, 4)).sum().backward()
    found += [numbers(m.weight_orig.grad)]
    p.remove(m, "weight")
    found += [numbers(m.weight), [n for n, _ in m.named_parameters()], p.is_pruned(m)]
    a, b = linear(t, 2, 2), linear(t, 3, 2)
    p.global_unstructured([(a, "weight"), (b, "weight")], p.L1Unstructured, amount=4)
    found += [numbers(a.weight), numbers(b.weight)]
    p.custom_from_mask(a, "bias", t.tensor([1.0, 0.0]))
    p.random_unstructured(b, "bias", 1)
    p.identity(linear(t), "weight")
    return [
        *found,
        numbers(a.bias),
        int((b.bias == 0).sum()),
        attempt(lambda: p.l1_unstructured(b, "weight", 1.5)),
        attempt(lambda: p.l1_unstructured(b, "weight", "x")),
        attempt(lambda: p.l1_unstructured(linear(t), "weight", 99)),
        attempt(lambda: p.random_structured(linear(t), "bias", 1, 0)),
        attempt(lambda: p.remove(linear(t), "weight"))[0],
    ]


@scenario
def fused_layers(t):
    conv, bn = fill(t, t.nn.Conv2d(2, 3, 2)), fill(t, t.nn.BatchNorm2d(3))
    bn.running_mean += 0.5
    bn.running_var *= 2
    x = values(t, 1, 2, 4, 4)
    conv.eval(), bn.eval()
    fused = t.nn.utils.fusion.fuse_conv_bn_eval(conv, bn)
    lin, bn1 = linear(t).eval(), fill(t, t.nn.BatchNorm1d(2)).eval()
    fused1 = t.nn.utils.fuse_linear_bn_eval(lin, bn1)
    return [
        numbers(fused(x)),
        (fused(x) - bn(conv(x))).abs().max().item() < 1e-5,
        numbers(fused1(t.ones(2, 3))),
        type(fused.weight).__name__,
        attempt(lambda: t.nn.utils.fuse_conv_bn_eval(conv.train(), bn)),
    ]


@scenario
def stateless_calls(t):
    call = t.nn.utils.stateless._functional_call
    m = linear(t)
    m.tied = m.weight
    given = {"weight": t.zeros(2, 3, requires_grad=True)}
    out = call(m, given, (t.ones(1, 3),))
    return [
        numbers(out),
        numbers(m.weight),
        m.tied is m.weight,
        attempt(lambda: call(m, {"x": t.ones(1)}, t.ones(1, 3), strict=True))[0],
        attempt(lambda: call(m, {"weight": t.ones(2, 3), "tied": t.ones(2, 3)}, t.ones(1, 3)))[0],
    ]


@scenario
def stateless_calls_with_names_the_module_has_not(t):
    class Counting(t.nn.Linear):
        def forward(self, x):
            return [n for n, _ in self.named_parameters()], hasattr(self, "more")

    m = Counting(3, 2)
    more, plain = {"more": t.nn.Parameter(t.ones(1))}, {"more": t.ones(1)}
    call = t.func.functional_call
    return [
        call(m, more, t.ones(1, 3)),
        call(m, plain, t.ones(1, 3)),
        hasattr(m, "more"),
        attempt(lambda: call(m, {"z": 1, "a": 2}, t.ones(1, 3), strict=True)),
        attempt(lambda: call(m, (more, plain), t.ones(1, 3)))[0],
    ]


@scenario
def skipped_initialisation(t):
    m = t.nn.utils.skip_init(t.nn.Linear, 3, 2, bias=False)
    return [repr(m), str(m.weight.device), attempt(lambda: t.nn.utils.skip_init(t.nn.ReLU))]


@scenario
def initial_values(t):
    init = t.nn.init
    w = t.empty(4, 3)
    found = [
        numbers(init.constant_(w, 2)),
        numbers(init.ones_(w)),
        numbers(init.zeros_(w)),
        numbers(init.eye_(w)),
        numbers(init.dirac_(t.empty(4, 2, 3), 2)),
        [
            round(init.calculate_gain(*a), 4)
            for a in (("relu",), ("tanh",), ("leaky_relu", 0.2), ("selu",), ("conv2d",))
        ],
        init._calculate_fan_in_and_fan_out(t.empty(4, 3, 5)),
        init._calculate_correct_fan(w, "FAN_OUT"),
        attempt(lambda: init.calculate_gain("no")),
        attempt(lambda: init.eye_(t.empty(3))),
        attempt(lambda: init.kaiming_uniform_(w, mode="no")),
        attempt(lambda: init.xavier_normal_(t.empty(3))),
        attempt(lambda: init.orthogonal_(t.empty(3))),
        attempt(lambda: init.dirac_(w)),
        attempt(lambda: init.calculate_gain("leaky_relu", "x")),
    ]
    big = t.empty(200, 100)
    for fill_in, bound in (
        (init.xavier_uniform_, (6 / 300) ** 0.5),
        (init.kaiming_uniform_, (6 / 100) ** 0.5),
        (lambda x: init.uniform_(x, -3, 2), 3),
        (init.trunc_normal_, 2),
        (lambda x: init.trunc_normal_(x, 0, 1, 3, 4), 4),
    ):
        fill_in(big)
        top = big.abs().max().item()
        found.append(bound * 0.95 < top <= bound * 1.0001)
    for fill_in, std in (
        (init.xavier_normal_, (2 / 300) ** 0.5),
        (init.kaiming_normal_, (2 / 100) ** 0.5),
        (lambda x: init.normal_(x, 0, 3), 3),
    ):
        fill_in(big)
        found.append(abs(big.std().item() / std - 1) < 0.05)
    found += [
        warned(lambda: init.trunc_normal_(t.empty(2), 0, 1, *ends))
        for ends in ((-2, 2), (2, 3), (2.01, 3), (-3, -2), (-3, -2.01))
    ]
    q = init.orthogonal_(t.empty(3, 5), gain=2)
    found.append((q @ q.T - 4 * t.eye(3)).abs().max().item() < 1e-5)
    found.append((init.sparse_(t.empty(10, 4), 0.3) == 0).sum(0).tolist())
    return found


@scenario
def kernels_of_attention(t):
    attention = import_module(f"{t.__name__}.nn.attention")
    with attention.sdpa_kernel([attention.SDPBackend.MATH]):
        allowed = [b.name for b in attention._cur_sdpa_kernel_backends()]
    return [allowed, attempt(lambda: attention.sdpa_kernel(3).__enter__())[0]]


@scenario
def biases_of_attention(t):
    bias = import_module(f"{t.__name__}.nn.attention.bias")
    q, k = values(t, 2, 2, 3, 4).requires_grad_(), values(t, 2, 2, 5, 4, scale=2.0)
    found = []
    for make in (bias.causal_upper_left, bias.causal_lower_right):
        out = t.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=make(3, 5))
        (grad,) = t.autograd.grad(out.sum(), q)
        found += [numbers(out), numbers(grad), repr(make(2, 3)), make(3, 5).variant.name]
    both = attempt(
        lambda: t.nn.functional.scaled_dot_product_attention(
            q, k, k, attn_mask=bias.causal_upper_left(3, 5), is_causal=True
        )
    )
    return [*found, both, attempt(lambda: bias.causal_lower_right(3))[0]]


@scenario
def fast_path_of_encoders(t):
    layer = t.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    m = fill(t, t.nn.TransformerEncoder(layer, 2)).eval()
    x, padding = values(t, 2, 5, 4), t.tensor([[False] * 5, [False] * 3 + [True] * 2])
    found = [numbers(m(x, src_key_padding_mask=padding)), m.use_nested_tensor]
    with t.no_grad():
        found.append(numbers(m(x, src_key_padding_mask=padding)))
        found.append(numbers(m(x, t.zeros(5, 5), padding)))
        found.append(numbers(m(x, src_key_padding_mask=padding.flip(1))))
    return found


@scenario
def encoders_that_have_no_fast_path(t):
    layer = t.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    m, other = (fill(t, t.nn.TransformerEncoder(layer, 2, None, fast)) for fast in (True, False))
    x, padding = values(t, 2, 5, 4), t.tensor([[False] * 5, [False] * 3 + [True] * 2])
    with t.no_grad():
        found = [numbers(m(x, src_key_padding_mask=padding))]  # in training
        found.append(numbers(m.eval()(x[1], src_key_padding_mask=padding[1])))
        found.append(numbers(other.eval()(x, src_key_padding_mask=padding)))
        t.set_autocast_enabled("cuda", True)  # whatever computes
        try:
            found.append(numbers(m(x, src_key_padding_mask=padding)))
        finally:
            t.set_autocast_enabled("cuda", False)
    return found


@pytest.mark.parametrize("each", scenario, ids=lambda f: f.__name__)
def test_the_same_happens(each):
    play(each)


def test_encoders_without_data_leave_nothing_out():
    layer = mt.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, device="meta")
    m = mt.nn.TransformerEncoder(layer, 2).eval()
    with mt.no_grad():
        made = m(
            mt.empty(2, 5, 4, device="meta"), src_key_padding_mask=mt.ones(2, 5, device="meta") > 0
        )
    assert made.shape == (2, 5, 4)
