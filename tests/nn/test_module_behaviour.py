"""What happens in scenarios with modules is what happens in PyTorch: values, texts and errors."""

import copy
import pickle

import pytest
from collecting import Scenarios
from module_scenarios import attempt, fill, numbers, play

scenario = Scenarios()


def net(t):
    return fill(t, t.nn.Sequential(t.nn.Linear(3, 4), t.nn.ReLU(), t.nn.Linear(4, 2)))


@scenario
def what_keeps_parameters_says_what_it_keeps(t):
    kept = {"a": t.nn.Parameter(t.ones(2)), "b": t.ones(3), "c": 3, "d": "x"}
    return [repr(t.nn.ParameterDict(kept)), repr(t.nn.ParameterList(kept.values()))]


@scenario
def an_older_container(t):
    made = t.nn.Container(a=fill(t, t.nn.Linear(2, 1)), b=t.nn.ReLU())
    return [repr(made), list(made.state_dict()), numbers(made.a(t.ones(1, 2)))]


@scenario
def convolutions_that_keep_sizes(t):
    x = t.arange(36.0).reshape(1, 1, 6, 6).sin()
    return [
        numbers(fill(t, t.nn.Conv2d(1, 1, size, padding="same", padding_mode=mode))(x))
        for mode in ("zeros", "reflect", "circular", "replicate")
        for size in (2, 3, (4, 5))
    ]


@scenario
def attributes_become_members(t):
    m = t.nn.Module()
    m.w = t.nn.Parameter(t.ones(2))
    m.b = t.nn.Buffer(t.zeros(1))
    m.temporary = t.nn.Buffer(t.zeros(1), persistent=False)
    m.child = t.nn.Linear(1, 1)
    m.plain = 3
    found = [list(m._parameters), list(m._buffers), list(m._modules), list(m.state_dict())]
    m.w = m.child = None
    found += [list(m._parameters), list(m._modules), m.w, list(m.state_dict()), repr(m)]
    del m.w, m.b
    return [*found, hasattr(m, "w"), list(m._buffers), sorted(m._non_persistent_buffers_set)]


@scenario
def ops_in_the_body_of_a_class_are_no_methods(t):
    class Layer(t.nn.Module):
        conv, act, transform = t.conv2d, t.sigmoid, t.fft.rfft
        linear = t.nn.functional.linear

        def forward(self, x):
            y = self.conv(x, t.ones(1, 1, 2, 2), padding=1)
            return [self.act(self.linear(y, t.ones(2, 4))), self.transform(x).abs()]

    class Derived(Layer):
        act = t.tanh

    x = t.arange(9.0).reshape(1, 1, 3, 3) / 9
    return [Layer()(x), Derived()(x), Layer.act(x), Layer.conv is t.conv2d]


@scenario
def pooling_in_every_rank(t):
    found = []
    for n, shape in ((1, (2, 6)), (2, (2, 6, 5)), (3, (2, 6, 5, 4))):
        x = (t.arange(float(t.ones(shape).numel())) * 7 % 11).reshape(shape)
        modules = [
            getattr(t.nn, f"{kind}{n}d")(*given, **named)
            for kind, given, named in (
                ("MaxPool", (2,), {"padding": 1}), ("AvgPool", (2, 1), {}), ("LPPool", (2, 2), {}),
                ("AdaptiveAvgPool", (2,), {}), ("AdaptiveMaxPool", (3,), {}),
                ("AdaptiveMaxPool", (2,), {"return_indices": True}),
                ("MaxPool", (2,), {"return_indices": True, "ceil_mode": True}),
            )
        ]  # fmt: skip
        for m in modules:
            made = m(x)
            parts = made if isinstance(made, tuple) else (made,)
            found += [repr(m), m.training, *([list(p.shape), numbers(p)] for p in parts)]
        pooled, at = t.nn.functional.__dict__[f"max_pool{n}d"](x, 2, return_indices=True)
        unpool = getattr(t.nn, f"MaxUnpool{n}d")(2)
        found += [repr(unpool), numbers(unpool(pooled, at, output_size=shape[1:]))]
    return found


@scenario
def values_of_buffers(t):
    class Kept(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.given = t.nn.Buffer(t.tensor([1.0, 2.0]))
            self.passing = t.nn.Buffer(t.ones(2, requires_grad=True) * 3, persistent=False)
            self.empty = t.nn.Buffer()

    m = Kept()
    found = [(b.tolist(), list(b.shape), b.requires_grad, b.is_leaf) for b in m.buffers()]
    return [*found, sorted(m.state_dict()), isinstance(m.given, t.nn.Buffer), m.given.persistent]


@scenario
def arguments_of_the_base_class(t):
    class Handed(t.nn.Module):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    return [
        attempt(lambda: Handed(1)),
        attempt(lambda: Handed(a=1)),
        attempt(lambda: t.nn.Module(1, 2)),
    ]


@scenario
def wrong_assignments(t):
    m = t.nn.Linear(2, 2)
    m.register_buffer("b", t.zeros(1))
    m.child = t.nn.ReLU()

    class Early(t.nn.Module):
        def __init__(self, value):
            self.x = value

    return [
        attempt(lambda: setattr(m, "weight", 3))[0],
        attempt(lambda: setattr(m, "child", 3))[0],
        attempt(lambda: setattr(m, "b", 3))[0],
        attempt(lambda: m.register_buffer("weight", t.zeros(1))),
        attempt(lambda: m.register_buffer("a.b", t.zeros(1))),
        attempt(lambda: m.register_buffer("", t.zeros(1))),
        attempt(lambda: m.register_buffer("c", "text"))[0],
        attempt(lambda: m.register_parameter("weight.x", None)),
        attempt(lambda: m.register_parameter("x", t.ones(1)))[0],
        attempt(lambda: m.add_module("a.b", t.nn.ReLU())),
        attempt(lambda: m.add_module("weight", t.nn.ReLU())),
        attempt(lambda: m.add_module("n", 3))[0],
        attempt(lambda: Early(t.nn.Parameter(t.ones(1)))),
        attempt(lambda: Early(t.nn.ReLU())),
        attempt(lambda: m.nothing),
        attempt(lambda: t.nn.Module(3)),
        attempt(lambda: t.nn.Module(x=3)),
        attempt(lambda: t.nn.Module()(3)),
    ]


@scenario
def paths(t):
    m = t.nn.Sequential(net(t), t.nn.BatchNorm1d(2))
    m.set_submodule("0.1", t.nn.Tanh())
    return [
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_buffers()],
        [n for n, _ in m.named_children()],
        type(m.get_submodule("0.1")).__name__,
        m.get_parameter("0.0.bias").shape == (4,),
        m.get_buffer("1.running_mean").shape == (2,),
        attempt(lambda: m.get_submodule("0.x")),
        attempt(lambda: m.get_submodule("0.0.weight")),
        attempt(lambda: m.get_parameter("1.running_mean")),
        attempt(lambda: m.get_buffer("0.0.weight")),
        attempt(lambda: m.set_submodule("", t.nn.ReLU())),
        attempt(lambda: m.set_submodule("0.9", t.nn.ReLU(), strict=True)),
    ]


@scenario
def shared_members_are_given_once(t):
    shared = t.nn.Linear(2, 2)
    m = t.nn.ModuleList([shared, shared])
    m.tied = shared.weight
    return [
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_parameters(remove_duplicate=False)],
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_modules(remove_duplicate=False)],
        len(list(m.children())),
        list(m.state_dict()),
    ]


def drop(state, key):
    del state[key]


@scenario
def state_dict_hooks(t):
    m, events = net(t), []
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: events.append((prefix, keep)))
    m[0].register_state_dict_post_hook(lambda mod, sd, prefix, meta: events.append(prefix))
    m[2]._register_state_dict_hook(lambda mod, sd, prefix, meta: drop(sd, prefix + "bias"))
    found = [list(m.state_dict(prefix="p.")), events]
    m[0].register_load_state_dict_pre_hook(lambda mod, sd, prefix, *rest: events.append(prefix))
    m.register_load_state_dict_post_hook(lambda mod, keys: keys.missing_keys.clear())
    return [*found, str(m.load_state_dict(m.state_dict())), events]


@scenario
def loading_what_does_not_fit(t):
    m = net(t)
    good = m.state_dict()
    changes = (
        {"0.weight": t.ones(2, 2)},
        {"extra": t.ones(1), "0.extra": t.ones(1)},
        {"0.weight": "text"},
    )
    results = [attempt(lambda c=c: m.load_state_dict({**good, **c}))[0] for c in changes]
    missing = {k: v for k, v in good.items() if k != "2.bias"}
    results.append(attempt(lambda: m.load_state_dict(missing)))
    results.append(attempt(lambda: m.load_state_dict({**good, "0.weight": t.ones(2, 2)})))
    results.append(attempt(lambda: m.load_state_dict({**missing, "more": t.ones(1)})))
    results.append(attempt(lambda: m.load_state_dict(3)))
    results.append(repr(m.load_state_dict(missing, strict=False)))
    results.append(repr(m.load_state_dict({**good, "zz.b": t.ones(1)}, strict=False)))
    return [*results, repr(m.load_state_dict(good))]


@scenario
def loading_by_assignment(t):
    m, other = net(t), net(t)
    p = m[0].weight
    m[0].weight.requires_grad_(False)
    state = {k: v + 1 for k, v in other.state_dict().items()}
    m.load_state_dict(state, assign=True)
    return [
        m[0].weight is p,
        m[0].weight.requires_grad,
        m[2].weight.requires_grad,
        numbers(m[0].weight),
        type(m[0].weight).__name__,
        m[0].weight.data_ptr() == state["0.weight"].data_ptr(),
    ]


@scenario
def extra_state(t):
    class Counts(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.n = 0

        def get_extra_state(self):
            return {"n": self.n}

        def set_extra_state(self, state):
            self.n = state["n"]

    a, b = t.nn.Sequential(Counts()), t.nn.Sequential(Counts())
    a[0].n = 5
    state = a.state_dict()
    b.load_state_dict(state)
    return [list(state), b[0].n, attempt(lambda: b.load_state_dict({}))]


@scenario
def metadata_of_versions(t):
    m = t.nn.Sequential(t.nn.BatchNorm1d(2))
    state = m.state_dict()
    old = {k: v for k, v in state.items() if "tracked" not in k}
    m[0].num_batches_tracked += 3
    m.load_state_dict(old)
    return [dict(state._metadata), int(m[0].num_batches_tracked)]


@scenario
def modes_and_gradients(t):
    m = net(t)
    m.eval()
    modes = [x.training for x in m.modules()]
    m[0].train()
    m.requires_grad_(False)
    m[2].requires_grad_()
    m(t.ones(1, 3)).sum().backward()
    grads = [p.grad is not None for p in m.parameters()]
    m.zero_grad(set_to_none=False)
    zeros = [None if p.grad is None else numbers(p.grad) for p in m.parameters()]
    m.zero_grad()
    return [
        modes,
        m[0].training,
        m.training,
        grads,
        zeros,
        [p.grad for p in m.parameters()],
        attempt(lambda: m.train("yes")),
    ]


@scenario
def conversions(t):
    m = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
    p = m[0].weight
    m(t.ones(3, 2)).sum().backward()
    m.double()
    found = [str(p.dtype), str(p.grad.dtype), m[0].weight is p, str(m[1].num_batches_tracked.dtype)]
    m.to(t.float16)
    found += [str(p.dtype), str(m[1].running_mean.dtype)]
    m.to(t.ones(1))
    found += [str(p.dtype)]
    m.to("cpu", t.float64)
    found += [str(p.dtype), str(m.bfloat16()[0].weight.dtype), str(m.float()[0].bias.dtype)]
    meta = copy.deepcopy(m).to("meta")
    found += [str(meta[0].weight.device), meta[0].weight.requires_grad]
    found += [attempt(lambda: meta.to("cpu"))[0], str(meta.to_empty(device="cpu")[0].weight.device)]
    return [
        *found,
        attempt(lambda: m.to(t.int64)),
        attempt(lambda: m.to("cpu", "cpu"))[0],
        str(m.type(t.float64)[0].weight.dtype),
    ]


@scenario
def copies(t):
    m = net(t)
    m(t.ones(1, 3)).sum().backward()
    c = copy.deepcopy(m)
    with t.no_grad():
        c[0].weight.zero_()
    again = pickle.loads(pickle.dumps(m))
    return [
        numbers(m[0].weight),
        numbers(c[0].weight),
        numbers(again[0].weight),
        c[0].weight.grad,
        type(c[0].weight).__name__,
        again[0].weight.requires_grad,
        c.state_dict().keys() == m.state_dict().keys(),
    ]


@scenario
def containers(t):
    s = t.nn.Sequential(t.nn.ReLU(), t.nn.Tanh(), t.nn.Sigmoid())
    s.insert(1, t.nn.ELU())
    s.append(t.nn.GELU())
    del s[0]
    popped = type(s.pop(0)).__name__
    doubled, joined = s * 2, s + t.nn.Sequential(t.nn.Identity())
    s += t.nn.Sequential(t.nn.Softplus())
    names = t.nn.ModuleDict({"b": t.nn.ReLU(), "a": t.nn.Tanh()})
    names.update([("c", t.nn.ELU())])
    listed = t.nn.ModuleList([t.nn.ReLU()] * 3)
    listed = listed + t.nn.ModuleList([t.nn.Tanh()])
    listed[1] = t.nn.ELU()
    return [
        repr(s),
        popped,
        repr(doubled),
        repr(joined),
        repr(s[1:]),
        len(s[-1:]),
        repr(names),
        list(names.keys()),
        "a" in names,
        repr(names.pop("a")),
        repr(listed),
        repr(listed[::2]),
        attempt(lambda: s[9]),
        attempt(lambda: s + 3)[0],
        attempt(lambda: s * 0)[0],
        attempt(lambda: names.update(3))[0],
        attempt(lambda: names.update([(1, 2, 3)]))[0],
        attempt(lambda: listed.extend(3))[0],
        attempt(lambda: s.insert(99, t.nn.ReLU())),
    ]


@scenario
def containers_of_parameters(t):
    p = t.nn.ParameterList([t.ones(2), t.nn.Parameter(t.zeros(1, 3)), "text"])
    p += [t.ones(1)]
    d = t.nn.ParameterDict({"b": t.ones(2), "a": t.nn.Parameter(t.zeros(1))})
    d["c"] = 5
    e = d | {"z": t.ones(1)}
    return [
        repr(p),
        len(p),
        [n for n, _ in p.named_parameters()],
        len(p[1:]),
        list(d.keys()),
        list(e.keys()),
        d.pop("c"),
        list(d.keys()),
        d.popitem()[0],
        d.get("no", 3),
        d.setdefault("n", t.ones(1)).requires_grad,
        attempt(lambda: p(1)),
        attempt(lambda: d(1)),
        attempt(lambda: d[3])[0],
        attempt(lambda: p.extend(t.ones(2)))[0],
    ]


@scenario
def lazy_modules(t):
    m = t.nn.Sequential(t.nn.LazyLinear(4), t.nn.LazyBatchNorm1d())
    before = [repr(m), m[0].has_uninitialized_params(), repr(m[0].weight)]
    found = [
        attempt(lambda: m[0].weight.shape)[0],
        attempt(lambda: m[0].weight + 1)[0],
        attempt(lambda: t.nn.functional.linear(t.ones(1, 2), m[0].weight))[0],
    ]
    m.double().float()
    c = copy.deepcopy(m[0])
    out = m(t.ones(3, 5))
    c.load_state_dict(m[0].state_dict())
    shape = tuple(c(t.ones(2, 5)).shape)
    return [*before, *found, repr(m), tuple(out.shape), shape, list(m.state_dict())]


@scenario
def what_lazy_modules_begin_with(t):
    found = []
    for features in (1, 2):
        t.manual_seed(0)
        layers = [t.nn.LazyLinear(2), t.nn.LazyBatchNorm1d(), t.nn.LazyInstanceNorm1d(affine=True)]
        layers += [t.nn.LazyConv1d(2, 1), t.nn.LazyConvTranspose1d(2, 1)]
        for m in layers:
            x = t.zeros(2, features, features)
            m.eval()(x)
            found.append([(name, numbers(held)) for name, held in m.state_dict().items()])
    return found


@scenario
def adding_modules_by_another_name(t):
    m = t.nn.Module()
    m.register_module("act", t.nn.ReLU())
    m.register_module("none", None)
    return [repr(m), m.none, attempt(lambda: m.register_module("act", 3))[0]]


@scenario
def parameters_as_objects(t):
    p = t.nn.Parameter(t.ones(2))
    data = t.zeros(3)
    q = t.nn.Parameter(data, requires_grad=False)
    data += 1
    b = t.nn.Buffer(t.ones(1), persistent=False)
    with t.no_grad():
        r = t.nn.Parameter(t.ones(1))
    return [
        repr(p),
        repr(q),
        numbers(q),
        type(p + 1).__name__,
        type(p.data).__name__,
        p.is_leaf,
        isinstance(b, t.nn.Buffer),
        isinstance(b, t.nn.Parameter),
        b.persistent,
        r.requires_grad,
        isinstance(t.ones(1), t.nn.Parameter),
        attempt(lambda: t.nn.Parameter(t.ones(1, dtype=t.int64)))[0],
        t.nn.Parameter().shape == (0,),
        type(p.detach()).__name__,
        type(copy.deepcopy(p)).__name__,
    ]


@scenario
def names_that_are_replaced(t):
    m = t.nn.Linear(2, 2, bias=False)
    m.weight_ = m.weight
    m.weight = t.nn.Parameter(t.ones(1, 2))
    m.bias = t.nn.Parameter(t.ones(1))
    found = [[n for n, _ in m.named_parameters()], tuple(m(t.ones(3, 2)).shape)]
    m.register_buffer("x", None)
    m.x = t.ones(2)
    return [*found, list(m._buffers), "x" in m.__dict__, sorted(m.state_dict())]


@scenario
def drawn_parameters(t):
    makers = (
        lambda: t.nn.Linear(3, 2), lambda: t.nn.Bilinear(2, 3, 2), lambda: t.nn.Conv2d(2, 3, 2),
        lambda: t.nn.ConvTranspose1d(2, 3, 2), lambda: t.nn.RNNCell(2, 3), lambda: t.nn.GRUCell(2, 3),
        lambda: t.nn.LSTMCell(2, 3), lambda: t.nn.GRU(2, 3), lambda: t.nn.LSTM(2, 3, 2, proj_size=2),
        lambda: t.nn.Embedding(3, 2, padding_idx=1), lambda: t.nn.MultiheadAttention(4, 2),
    )  # fmt: skip
    found = []
    for make in makers:
        t.manual_seed(5)
        found += [(name, numbers(p)) for name, p in make().named_parameters()]
    packed = t.nn.utils.rnn.pack_sequence([t.ones(2), t.ones(1)])
    return [*found, packed.is_cuda, packed.is_pinned()]


@pytest.mark.parametrize("each", scenario, ids=lambda f: f.__name__)
def test_the_same_happens(each):
    play(each)
