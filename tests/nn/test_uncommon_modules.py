"""What modules do that few programs ask for, beside PyTorch: hooks that change things, states, refusals."""

from collections import OrderedDict
from importlib import import_module

from same_results import names_of, results_are, scenarios_are

names = names_of(
    "nn.init",
    "nn.attention",
    some=lambda lib: (
        lambda *shape: lib.arange(1.0, 1 + lib.Size(shape).numel()).reshape(shape) / 10
    ),
    t=lambda lib: lib.tensor,
    meta=lambda lib: lambda *shape: lib.empty(shape, device="meta"),
    lin=lambda lib: lambda *, bias=True: filled(lib.nn.Linear(2, 2, bias=bias)),
)


def filled(module):
    """The module with the same numbers in both libraries."""
    for n, p in enumerate(module.parameters()):
        p.data = (p.data * 0 + 1).cumsum(-1) / (n + 4)
    return module


test_results_of_modules = results_are(
    """
    nn.LogSigmoid()(some(3))
    nn.Softsign()(some(3))
    nn.MultiLabelMarginLoss()(some(2, 3), t([[0, -1, 1], [2, 0, -1]]))
    nn.MultiLabelMarginLoss(reduction="none")(some(2, 3), t([[0, -1, 1], [2, 0, -1]]))
    nn.Transformer.generate_square_subsequent_mask(3)
    nn.Transformer.generate_square_subsequent_mask(2, dtype=torch.float64)
    init.trunc_normal_(meta(2, 3)).shape
    init.dirac_(meta(4, 2, 3)).shape
    init.orthogonal_(meta(2, 3)).shape
    init.orthogonal_(torch.empty(0, 3)).shape
    init.sparse_(meta(2, 3), 0.5).shape
    ! init.dirac_(some(2, 3))
    ! init.dirac_(some(3, 3, 3), groups=2)
    ! init.orthogonal_(some(3))
    ! init.sparse_(some(3), 0.5)
    init.dirac_(some(4, 2, 3), groups=2)
    nn.GRUCell(2, 2)(some(2), some(2)).shape
    filled(nn.LSTMCell(2, 3))(some(2), (some(3), some(3) * 2))
    filled(nn.GRUCell(2, 3))(some(2), some(3))
    filled(nn.RNNCell(2, 3))(some(2), some(3))
    filled(nn.RNNCell(2, 3))(some(2))
    filled(nn.RNNCell(2, 3))(some(1, 2), some(1, 3))
    nn.Embedding(3, 2, _weight=some(3, 2))(t([2, 0]))
    nn.Embedding(3, 2, _weight=some(3, 2), _freeze=True).weight.requires_grad
    nn.Embedding(3, 2, _freeze=True).weight.requires_grad
    nn.Embedding.from_pretrained(some(3, 2), freeze=False, padding_idx=-1).padding_idx
    nn.EmbeddingBag.from_pretrained(some(3, 2))(t([[0, 1], [2, 2]]))
    ! nn.Embedding(3, 2, _weight=some(2, 3))
    ! nn.Embedding.from_pretrained(some(3))
    ! nn.EmbeddingBag.from_pretrained(some(3))
    ! nn.Embedding(3, 2, padding_idx=3)
    ! nn.FractionalMaxPool3d(0, output_size=2)
    repr(nn.ModuleList())
    repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()]))
    [n for n in dir(nn.ModuleList([nn.ReLU()])) if n.isdigit()]
    [n for n in dir(nn.ModuleDict({"a": nn.ReLU()})) if n == "a"]
    repr(nn.ModuleList([nn.ReLU()]).__iadd__([nn.Tanh(), nn.ELU()]))
    ! nn.ModuleList([nn.ReLU()]).extend(3)
    repr(nn.ModuleList([nn.ReLU()]) + [nn.Tanh()])
    list(map(repr, nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()}).items()))
    repr(nn.Sequential(nn.ReLU(), nn.ReLU())[1:])
    lin().half().weight
    lin().cpu().weight
    lin().to("cpu", torch.float64).weight
    lin().to("cpu", torch.float64, True).weight
    ! lin().to(torch.float64, True, True)
    ! lin().to("cpu", copy=True)
    ! lin().to(torch.float64, copy=True)
    ! lin().to(torch.float64, True, False)
    ! lin().to(torch.float64, copy=False)
    lin().to(t(2.0, dtype=torch.float64), True).weight
    lin().to("cpu", None, False).weight
    ! lin().to(torch.int64)
    lin().type(torch.float64).weight
    ! nn.Module(3)
    ! nn.Module(a=3)
    ! nn.Linear(2, 2).register_buffer("b", 3)
    ! nn.Linear(2, 2).register_buffer("weight", some(2))
    ! nn.Linear(2, 2).register_parameter("p", some(2))
    ! nn.Linear(2, 2).register_parameter("p", nn.Parameter(some(2)).requires_grad_() * 2)
    ! nn.Linear(2, 2).add_module("m", 3)
    ! nn.Linear(2, 2).add_module("a.b", nn.ReLU())
    ! nn.Linear(2, 2).add_module("", nn.ReLU())
    nn.MultiheadAttention(2, 1).merge_masks(None, None, some(1, 3, 2))
    nn.MultiheadAttention(2, 1).merge_masks(None, some(1, 3), some(1, 3, 2))
    nn.MultiheadAttention(2, 2).merge_masks(some(3, 3), None, some(2, 3, 2))
    nn.MultiheadAttention(2, 2).merge_masks(some(3, 3), some(2, 3), some(2, 3, 2))
    nn.MultiheadAttention(2, 2).merge_masks(some(4, 3, 3), some(2, 3), some(2, 3, 2))
    """,
    lambda lib: names(lib) | {"filled": filled},
)


def hooks_of_registrations(lib):
    """They may put another thing in the place of what is registered, until they are taken away."""
    hooks, other = import_module(f"{lib.__name__}.nn.modules.module"), lib.nn.Parameter(lib.ones(3))
    seen = []

    def doubled(module, name, buffer):
        seen.append(("buffer", name))
        return buffer * 2

    def replaced(module, name, parameter):
        seen.append(("parameter", name))
        return other if name == "p" else None

    def wrapped(module, name, submodule):
        seen.append(("module", name))
        return lib.nn.Sequential(submodule) if name == "m" else None

    handles = [
        hooks.register_module_buffer_registration_hook(doubled),
        hooks.register_module_parameter_registration_hook(replaced),
        hooks.register_module_module_registration_hook(wrapped),
    ]
    try:
        m = lib.nn.Module()
        m.register_buffer("b", lib.ones(2))
        m.p, m.q = lib.nn.Parameter(lib.ones(2)), lib.nn.Parameter(lib.ones(2))
        m.m, m.n = lib.nn.ReLU(), lib.nn.Tanh()
    finally:
        for handle in handles:
            handle.remove()
    m.register_buffer("c", lib.ones(2))
    return m.b, m.c, m.p is other, m.q, repr(m), seen


def two_kinds_of_global_hooks(lib):
    """Plain backward hooks of all modules and full ones exclude one another."""
    hooks = import_module(f"{lib.__name__}.nn.modules.module")
    seen = []
    handle = hooks.register_module_full_backward_hook(lambda m, i, o: seen.append(len(i)))
    try:
        filled(lib.nn.Linear(2, 2))(lib.ones(1, 2, requires_grad=True)).sum().backward()
        hooks.register_module_backward_hook(lambda *_: None)
    except RuntimeError as error:
        return str(error), seen
    finally:
        handle.remove()


def gradients_changed(lib, pre, post, x_needs=True):
    m = filled(lib.nn.Linear(2, 2))
    if pre:
        m.register_full_backward_pre_hook(pre)
    if post:
        m.register_full_backward_hook(post)
    x = lib.ones(1, 2, requires_grad=x_needs)
    m(x).sum().backward()
    return x.grad, m.weight.grad


def gradients_as_tuples(lib):
    return (
        gradients_changed(lib, lambda m, g: (g[0] * 2,), lambda m, g, o: (g[0] * 3,)),
        gradients_changed(lib, lambda m, g: None, lambda m, g, o: None),
    )


def too_many_gradients(lib):
    gradients_changed(lib, lambda m, g: (g[0], g[0]), None)


def too_many_gradients_of_inputs(lib):
    gradients_changed(lib, None, lambda m, g, o: (g[0], g[0]))


def by_another_way(lib):
    """A gradient that comes to an input by another way than the outputs calls no hook."""
    m, seen = filled(lib.nn.Linear(2, 2)), []
    m.register_full_backward_hook(lambda *_: seen.append(1))
    held = []
    m.register_forward_pre_hook(lambda m, args: held.append(args[0]))
    x = lib.ones(1, 2, requires_grad=True)
    m(x)
    m.register_forward_hook(lambda m, args, out: held.append(args[0]))
    out = m(x)
    (held[-1] * 2).sum().backward()
    return x.grad, seen, out.shape


def odd_outputs(lib):
    """A module with hooks that gives a dict."""

    class Named(lib.nn.Module):
        def forward(self, x):
            return {"n": 3, "x": x * 2}

    m, seen = Named(), []
    m.register_full_backward_hook(lambda *_: seen.append(1))
    x = lib.ones(2, requires_grad=True)
    m(x)["x"].sum().backward()
    return x.grad, seen


def failing_hooks(lib):
    """Hooks that are always called are called once, and what they raise is told."""

    class Failing(lib.nn.Module):
        def forward(self, x):
            raise ValueError("forward")

    m, seen = Failing(), []

    def hook(module, args, out):
        seen.append(out is None)
        raise KeyError("hook")

    m.register_forward_hook(hook, always_call=True)
    m.register_forward_hook(lambda *_: seen.append("never"))
    try:
        m(lib.ones(2))
    except ValueError as error:
        return str(error), seen


def zeroed(lib):
    """Gradients with a history, and none."""
    m = filled(lib.nn.Linear(2, 2))
    held = m.weight.grad = lib.ones(2, 2, requires_grad=True) * 2
    m.zero_grad(set_to_none=False)
    return m.weight.grad, m.weight.grad is held, held.requires_grad, m.bias.grad


def classes_below(lib):
    """`call_super_init` reaches the next class."""

    class Other:
        def __init__(self, size):
            self.size = size

    class Both(lib.nn.Module, Other):
        call_super_init = True

    m = Both(3)
    m.inner = lib.nn.ReLU()
    return m.size, repr(m)


def weights_put_in(lib):
    """A recurrent layer uses a weight that is put into the place of another."""
    m = filled(lib.nn.RNN(2, 2))
    m.weight_ih_l0 = lib.nn.Parameter(lib.ones(2, 2) * 0.25)
    return m(lib.ones(1, 1, 2)), m._flat_weights[0]


def other_dictionaries(lib):
    """A hook of states may give another dict; a public one may not."""
    m = filled(lib.nn.Linear(2, 2))
    handle = m._register_state_dict_hook(lambda m, d, p, meta: {p + k: v + 1 for k, v in d.items()})
    found = dict(m.state_dict(prefix="a."))
    handle.remove()
    m.register_state_dict_post_hook(lambda m, d, p, meta: {})
    try:
        m.state_dict()
    except RuntimeError as error:
        return found, str(error)


def states_of_old(lib):
    """One number in a list of one; extra states that nobody wants; values that are no tensors."""
    m = lib.nn.Module()
    m.s = lib.nn.Parameter(lib.tensor(1.0))
    found = [m.load_state_dict({"s": lib.tensor([3.0])}), m.s.tolist()]
    found.append(m.load_state_dict({"s": lib.tensor(4.0), "_extra_state": 3}, strict=False))
    for state in ({"s": 3}, {"s": lib.ones(2)}, {"s": lib.tensor(5.0), "_extra_state": 3}):
        try:
            m.load_state_dict(state)
        except RuntimeError as error:
            found.append(str(error))
    return found


def assigned(lib):
    """A state whose tensors become the parameters keeps whether they require gradients."""
    found = []
    for value in (lib.ones(2, 2), lib.nn.Parameter(lib.ones(2, 2)), lib.ones(2, 2).double()):
        m = lib.nn.Linear(2, 2, bias=False).requires_grad_(False)
        m.load_state_dict({"weight": value}, assign=True)
        same = m.weight is value
        found.append((type(m.weight).__name__, m.weight.requires_grad, m.weight.dtype, same))
    return found


def lazy_states(lib):
    """Of modules without shapes."""
    m = lib.nn.LazyLinear(2)
    state = m.state_dict()
    other = lib.nn.LazyLinear(2)
    other.load_state_dict(state)
    given = lib.nn.LazyLinear(2)
    given.load_state_dict(filled(lib.nn.Linear(3, 2)).state_dict())
    conv = lib.nn.LazyConv1d(4, 2)
    conv.reset_parameters()
    before = conv.has_uninitialized_params(), type(conv).__name__
    conv(lib.ones(1, 3, 5))
    kept = m.state_dict(keep_vars=True)
    return (
        {k: type(v).__name__ for k, v in state.items()},
        other.has_uninitialized_params(),
        given.weight,
        before,
        (conv.weight.shape, type(conv).__name__),
        {k: v is getattr(m, k) for k, v in kept.items()},
    )


def prefixes(lib):
    """A prefix is taken off names and what is said of them."""
    state = OrderedDict({"module.a.w": 1, "b.module.w": 2, "module.w": 3})
    state._metadata = OrderedDict({"": 0, "module": 1, "module.a": 2, "b.module": 3})
    take = import_module(f"{lib.__name__}.nn.modules.utils").consume_prefix_in_state_dict_if_present
    take(state, "module.")
    plain = {"module.a": 1}
    take(plain, "module.")
    return state, state._metadata, plain


def cleared(lib):
    m = lib.nn.ModuleDict({"a": lib.nn.ReLU()})
    m.clear()
    n = lib.nn.ModuleList([lib.nn.ReLU(), lib.nn.Tanh()])
    n.insert(1, lib.nn.ELU())
    n.insert(-1, lib.nn.GELU())
    p = lib.nn.Sequential(lib.nn.ReLU())
    p.insert(0, lib.nn.Tanh())
    return repr(m), len(m), repr(n), repr(p)


test_modules = scenarios_are(
    hooks_of_registrations,
    two_kinds_of_global_hooks,
    gradients_as_tuples,
    too_many_gradients,
    too_many_gradients_of_inputs,
    by_another_way,
    odd_outputs,
    failing_hooks,
    zeroed,
    classes_below,
    weights_put_in,
    other_dictionaries,
    states_of_old,
    assigned,
    lazy_states,
    prefixes,
    cleared,
)
