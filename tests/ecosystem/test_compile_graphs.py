"""``torch.compile`` with a function of a graph as backend: results are the plain call's, graphs PyTorch's."""

import copy
import weakref

import pytest
from graph_backends import Backend, looks

import mindtorch_core as mt
from mindtorch_core import nn
from mindtorch_core.nn import functional as F
from mindtorch_core.utils._pytree import tree_leaves

torch = mt


class Tripled(torch.autograd.Function):
    """x squared, with a gradient of its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0]


class Both(torch.autograd.Function):
    """Two results of a tensor and a number."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k, x + k

    @staticmethod
    def backward(ctx, of_product, of_sum):
        return of_product * ctx.k + of_sum, None


def writes(x):
    x.add_(1)
    x[0] = 5
    x[:, 1] *= 2
    return x.sum(), x


def writes_within(x):
    y = x * 1
    y.add_(1)
    y[0] = 0
    y += x
    return y.mul_(2)


def modes(x):
    with torch.no_grad():
        y = x * 2
    z = x * y
    with torch.no_grad(), torch.enable_grad():
        w = z.relu()
    return y, z, w


def makes(x):
    y = x + torch.arange(4) + torch.ones(4, dtype=x.dtype, device=x.device) + torch.zeros_like(x)
    return y + x.new_ones(4) + torch.tensor([1.0, 2, 3, 4])


def asks(x):
    y = x * 2
    return y.shape, y.dtype, y.device, y.requires_grad, len(y), y.size(0), (x.T * 2).stride(), y


WHOLE = {
    "arithmetic": lambda x: (
        1 - x,
        2 / x,
        2**x,
        -x,
        ~(x > 0),
        x @ x.T,
        abs(x),
        x // 2,
        x % 2,
        x <= 1,
    ),
    "parts": lambda x: (x[0], x[:, 1:3], x[..., None], x.view(-1), x.T, x.reshape(2, 6), x.mT),
    "several": lambda x: (x.max(1), x.sort(), x.topk(2), x.split(2, 1), torch.unbind(x)),
    "writes": writes,
    "writes within": writes_within,
    "modes": modes,
    "makes": makes,
    "asks": asks,
    "draws": lambda x: (F.dropout(x, 0.5), torch.rand(3, 4), torch.randn_like(x)),
    "function": lambda x: Tripled.apply(x.sin()) + 1,
    "function of two": lambda x: Both.apply(x, 3),
    "sizes": lambda x: x.view(x.shape[0], -1, 2).sum(-1) / x.numel(),
    "lists": lambda x: torch.cat([x, x * 2]) + torch.stack([x, x]).sum(0).repeat(2, 1),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "data": lambda x: (x.data * 2, (x * 2).data.add_(1)),
    "dtypes": lambda x: (x.to(torch.float64), x.half().sum(), x.int()),
}


def hooks(x):
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    return y * 3


def goes_back(x):
    y = x.detach().requires_grad_()
    (y * y).sum().backward()
    return y.grad


def casts(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x.T
    return y, x @ x.T


def writes_where_casts_begin(x):
    y = x * 2
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = y.add_(1)
        w = y @ y.T
    return y is z, y, w


def catches(x):
    y = x * 2
    try:
        return y @ torch.ones(9, 9)
    except RuntimeError:
        return y + 1


IN_PARTS = {
    "looks": looks,
    "item": lambda x: x * x.sum().item(),
    "numpy": lambda x: (float(x.detach().numpy().sum()), x * 2),
    "shows": lambda x: (repr(x * 2), x * 2),
    "loops": lambda x: [row * 2 for row in x],
    "masks": lambda x: x[x > 0],
    "hooks": hooks,
    "goes back": goes_back,
    "grad": lambda x: torch.autograd.grad((x * x).sum(), x)[0] if x.requires_grad else x,
    "casts": casts,
    "writes where casts begin": writes_where_casts_begin,
    "catches": catches,
    "vmap": lambda x: torch.vmap(lambda row: row.sum() * row)(x),
    "func.grad": lambda x: torch.func.grad(lambda t: (t**3).sum())(x.detach()),
    "checkpoint": lambda x: torch.utils.checkpoint.checkpoint(
        lambda t: (t.sin() * t).relu(), x, use_reentrant=False
    ),
    "copies": lambda x: copy.deepcopy(x.detach() * 2),
    "gives back": lambda x: x,
}
ALL = {k: (fn, k in WHOLE) for k, fn in {**WHOLE, **IN_PARTS}.items()}


def same(a, b):
    """Whether two results are alike, with what leads back from them."""
    left, right = tree_leaves(a), tree_leaves(b)
    assert len(left) == len(right)
    for x, y in zip(left, right, strict=True):
        if not isinstance(x, torch.Tensor):
            assert x == y
            continue
        assert type(x) is type(y)
        assert (x.dtype, x.shape, x.stride()) == (y.dtype, y.shape, y.stride())
        assert (x.requires_grad, x.is_leaf) == (y.requires_grad, y.is_leaf)
        assert type(x.grad_fn).__name__ == type(y.grad_fn).__name__
        torch.testing.assert_close(x, y, rtol=0, atol=0, equal_nan=True)
    return [
        [t for t in each if isinstance(t, torch.Tensor) and t.requires_grad]
        for each in (left, right)
    ]


# A leaf that requires grad must not be written, and one that does not has no hooks.
CASES = [
    (n, g) for n in ALL for g in (False, True) if (n, g) not in {("writes", True), ("hooks", False)}
]


@pytest.mark.parametrize(("name", "grad"), CASES)
def test_results_and_gradients_are_those_of_the_plain_call(name, grad):
    fn, whole = ALL[name]
    backend = Backend()
    compiled = torch.compile(fn, backend=backend, fullgraph=whole)
    for seed in range(3):
        torch.manual_seed(seed)
        x = torch.randn(3, 4, requires_grad=grad)
        y = x.detach().clone().requires_grad_(grad)
        torch.manual_seed(seed)
        wanted = fn(x)
        torch.manual_seed(seed)
        given = compiled(y)
        ends = same(wanted, given)
        torch.testing.assert_close(x, y, rtol=0, atol=0)
        if all(ends):
            for each in ends:
                sum(t.double().sum() for t in each).backward()
            assert x.grad.equal(y.grad)
        if whole:
            assert len(backend.graphs) == 1  # and no other in the runs after the first


class Net(nn.Module):
    """A small network that draws, counts and keeps."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.Linear(3, 2)
        self.calls, self.kept = 0, None

    def forward(self, x):
        self.calls += 1
        self.kept = F.relu(self.norm(self.conv(x)))
        return self.out(F.dropout(self.kept.mean((2, 3)), 0.3, self.training))


def test_a_network_trains_as_it_does_otherwise():
    torch.manual_seed(0)
    plain, backend = Net(), Backend()
    other = copy.deepcopy(plain)
    nets = [(plain, plain), (other, torch.compile(other, backend=backend))]
    steps = [torch.optim.SGD(net.parameters(), 0.1, momentum=0.9) for net, _ in nets]
    for i in range(4):
        x, losses = torch.randn(4, 1, 6, 6), []
        for (_, call), step in zip(nets, steps, strict=True):
            torch.manual_seed(i)
            losses.append(call(x).square().mean())
            step.zero_grad()
            losses[-1].backward()
            step.step()
        assert losses[0].equal(losses[1])
    for a, b in zip(plain.state_dict().values(), other.state_dict().values(), strict=True):
        assert a.equal(b)
    assert len(backend.graphs) == 1
    assert other.calls == 4  # the module's own code runs in each call
    assert type(other.kept) is torch.Tensor
    assert other.kept.equal(plain.kept)
    assert nets[1][1].eval()(x).equal(plain.eval()(x))
    assert len(backend.graphs) == 2


SHIFT = mt.ones(2)


def test_what_changes_beside_the_arguments_is_seen():
    backend, state = Backend(), {"k": 1}
    compiled = torch.compile(lambda x: x * state["k"] + SHIFT, backend=backend)
    x = torch.ones(2)
    assert compiled(x).tolist() == [2, 2]
    state["k"] = 5
    assert compiled(x).tolist() == [6, 6]
    assert len(backend.graphs) == 2
    SHIFT.add_(1)
    try:
        assert compiled(x).tolist() == [7, 7]
    finally:
        SHIFT.sub_(1)
    assert len(backend.graphs) == 2


def test_what_a_call_changes_of_an_input_is_told_at_once():
    def fn(x, weight):
        y = x * 1
        y.t_()
        x.unsqueeze_(0)
        x.mul_(weight)
        return x.shape, x.requires_grad, x.stride(), y.shape, x, y

    weight = torch.full((4,), 2.0, requires_grad=True)
    wanted = fn(torch.ones(3, 4), weight)
    same(wanted, torch.compile(fn, backend=Backend())(torch.ones(3, 4), weight))
    assert wanted[1]


def test_inputs_that_are_no_leaves_are_written_within_a_graph():
    leaf = torch.ones(3, requires_grad=True)
    y = torch.compile(lambda x: x.neg() + x.mul_(3), backend=Backend(), fullgraph=True)(leaf * 2)
    y.sum().backward()
    assert leaf.grad.tolist() == [4, 4, 4]


def test_samples_of_vmap_draw_by_themselves():
    def fn(x):
        return torch.vmap(lambda row: row + torch.rand(()), randomness="different")(x)

    found = torch.compile(fn, backend=Backend())(torch.zeros(64, 1))
    assert len(set(found.flatten().tolist())) > 32


def test_tensors_that_go_to_another_device_are_there():
    def fn(x):
        y = x.to("meta")
        return y.device.type, x.to(y).device.type, (y * 2).device.type, (x * 2).device.type

    found = torch.compile(fn, backend=Backend())(torch.ones(2))
    assert found == ("meta", "meta", "meta", "cpu")


def test_graphs_are_made_anew_for_inputs_of_another_kind():
    backend = Backend()
    compiled = torch.compile(lambda x: x * 2, backend=backend)
    x = torch.ones(3, 3)
    turned = torch.arange(9.0).reshape(3, 3).t()
    kinds = [x, turned, x.double(), x[:2], x.clone().requires_grad_(), torch.nn.Parameter(x)]
    for n, given in enumerate(kinds, 1):
        for _ in range(2):
            assert compiled(given).equal(given * 2)
            assert len(backend.graphs) == n


def test_a_view_that_a_graph_gives_follows_its_base():
    def leads_back(call):
        leaf = torch.arange(4.0).requires_grad_()
        base = leaf * 1
        view = call(base)
        base.mul_(3)
        (view * view).sum().backward()
        return view.tolist(), leaf.grad.tolist()

    def fn(x):
        return x.view(2, 2)[0]

    assert leads_back(torch.compile(fn, backend=Backend())) == leads_back(fn)


def test_no_input_outlives_its_call():
    compiled = torch.compile(lambda x: x * 2, backend=Backend())
    for _ in range(2):
        x = torch.ones(3)
        held = weakref.ref(x)
        y = compiled(x)
        del x
        assert held() is None
        assert y.tolist() == [2, 2, 2]


def test_attributes_of_a_tensor_stay():
    def fn(x):
        y = x * 2
        y.value, y.meta = "mine", 3
        return y

    y = torch.compile(fn, backend=Backend())(torch.ones(2))
    assert vars(y) == {"value": "mine", "meta": 3}


def test_a_graph_has_the_inputs_that_it_reads():
    backend = Backend()
    torch.compile(lambda x, y: (x.nonzero(), y * 2), backend=backend)(torch.ones(2), torch.ones(3))
    names = [n.target for n in backend.graphs[0].graph.find_nodes(op="placeholder")]
    assert names == ["L_y_"]
