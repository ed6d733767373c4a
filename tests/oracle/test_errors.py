"""Bad input: PyTorch's exception types, and texts that carry the values at fault."""

import pytest

import mindtorch_core as torch
from elementwise import raise_or_return
from mindtorch_core.nn import functional as F
from mindtorch_core.testing.comparison import assert_close, assert_same_outcome, outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")


def leaf(lib, *shape):
    return lib.ones(*shape, requires_grad=True)


def freed(lib):
    y = (leaf(lib, 2) ** 2).sum()
    y.backward()
    return y


def changed(lib, change):
    x = leaf(lib, 2)
    y = x * 1
    z = y.exp() if change != "input" else y**2
    (z if change != "input" else y).add_(1)
    z.sum().backward()


SHAPES = [
    lambda lib: lib.ones(2, 3) + lib.ones(4, 5),
    lambda lib: lib.ones(2, 3) * lib.ones(2, 4),
    lambda lib: lib.ones(3).add_(lib.ones(2, 3)),
    lambda lib: lib.where(lib.ones(2, dtype=lib.bool), lib.ones(3), lib.ones(4)),
    lambda lib: lib.ones(2, 3).expand(4, 3),
    lambda lib: lib.ones(2, 3).expand(3),
    lambda lib: lib.ones(2, 3).expand(-1, 2, 3),
    lambda lib: lib.ones(2, 3).broadcast_to((2, 4)),
    lambda lib: lib.ones(2, 3).view(4),
    lambda lib: lib.ones(2, 3).view(-1, -1),
    lambda lib: lib.ones(2, 3).view(-1, 4),
    lambda lib: lib.ones(2, 3).view(-2, 3),
    lambda lib: lib.ones(0).view(-1, 0),
    lambda lib: lib.ones(2, 3).t().view(6),
    lambda lib: lib.ones(2, 3).reshape(5),
    lambda lib: lib.ones(2, 3).permute(0, 0),
    lambda lib: lib.ones(2, 3).permute(0),
    lambda lib: lib.ones(2, 3).transpose(0, 5),
    lambda lib: lib.ones(2, 3).unsqueeze(7),
    lambda lib: lib.ones(2, 3).squeeze(4),
    lambda lib: lib.ones(2, 3).sum(5),
    lambda lib: lib.ones(2, 3).sum((0, 0)),
    lambda lib: lib.ones(2, 3).flatten(1, 0),
    lambda lib: lib.ones(2, 3).select(0, 9),
    lambda lib: lib.tensor(1.0).select(0, 0),
    lambda lib: lib.ones(2, 3).narrow(0, 1, 5),
    lambda lib: lib.ones(2, 3).narrow(0, 1, -1),
    lambda lib: lib.ones(2, 3).split([1, 3]),
    lambda lib: lib.ones(2, 3).split(-1),
    lambda lib: lib.ones(2, 3).chunk(0),
    lambda lib: lib.ones(2, 3).diagonal(0, 1, 1),
    lambda lib: lib.ones(2, 2, 2).t(),
    lambda lib: lib.ones(4).as_strided((5,), (1,)),
    lambda lib: lib.ones(4).as_strided((2,), (-1,)),
    lambda lib: lib.ones(4).as_strided((2,), (1, 1)),
    lambda lib: lib.ones(2).copy_(lib.ones(3)),
    lambda lib: lib.ones(2).fill_(lib.ones(2)),
    lambda lib: lib.ones(2, 3).masked_fill(lib.ones(4, dtype=lib.bool), 1.0),
    lambda lib: lib.stack([]),
    lambda lib: lib.cat([]),
    lambda lib: lib.empty(0).max(),
    lambda lib: lib.empty(0, 2).amax(0),
    lambda lib: lib.empty(0, 2).argmin(0),
    lambda lib: lib.ones(2, 3).unflatten(1, (2, 2)),
    lambda lib: lib.ones(2, 3).movedim(0, 4),
]
DTYPES = [
    lambda lib: lib.ones(2, dtype=lib.bool) - lib.ones(2, dtype=lib.bool),
    lambda lib: -lib.ones(2, dtype=lib.bool),
    lambda lib: lib.ones(2) & lib.ones(2),
    lambda lib: lib.ones(2, dtype=lib.int64).mean(),
    lambda lib: lib.ones(2, dtype=lib.int64).std(),
    lambda lib: lib.ones(2, dtype=lib.int64).add_(1.5),
    lambda lib: lib.ones(2, dtype=lib.int64).div_(2),
    lambda lib: lib.ones(2, dtype=lib.int64).exp_(),
    lambda lib: lib.ones(2).mul_(1j),
    lambda lib: lib.tensor([2]) ** -1,
    lambda lib: lib.add(lib.tensor([2]), 1, alpha=1.5),
    lambda lib: lib.ones(2, dtype=lib.complex64) < 1,
    lambda lib: lib.ones(2, dtype=lib.int64, requires_grad=True),
    lambda lib: lib.ones(2, dtype=lib.int64).requires_grad_(),
    lambda lib: lib.ones(2, dtype=lib.bool).requires_grad_(),
    lambda lib: lib.where(lib.ones(2), 1.0, 2.0),
    lambda lib: lib.ones(2).masked_fill(lib.ones(2), 1.0),
    lambda lib: lib.add(lib.ones(2), lib.ones(2), out=lib.ones(2, dtype=lib.int32)),
    lambda lib: lib.ones(2, dtype=lib.uint16) + lib.ones(2, dtype=lib.int32),
    lambda lib: lib.div(lib.ones(2), 2, rounding_mode="up"),
    lambda lib: lib.ones(2, dtype=lib.int64) // 0,
    lambda lib: lib.ones(2, dtype=lib.uint8).fill_(300),
    lambda lib: lib.full((2,), 1j, dtype=lib.float32),
]
ARGUMENTS = [
    lambda lib: lib.add(lib.ones(2)),
    lambda lib: lib.add(lib.ones(2), "a"),
    lambda lib: lib.add("a", lib.ones(2)),
    lambda lib: lib.add(lib.ones(2), None),
    lambda lib: lib.add(lib.ones(2), [1, 2]),
    lambda lib: lib.add(lib.ones(2), 1, beta=2),
    lambda lib: lib.add(lib.ones(2), 1, 2, 3),
    lambda lib: lib.ones(2) + "a",
    lambda lib: "a" * lib.ones(2),
    lambda lib: lib.ones(2) + None,
    lambda lib: lib.ones(2).sum("a"),
    lambda lib: lib.ones(2).sum(1.5),
    lambda lib: lib.ones(2).sum(dim=0, keep=True),
    lambda lib: lib.ones(2).view("a"),
    lambda lib: lib.ones(2).view(1.5),
    lambda lib: lib.ones(2).transpose(0),
    lambda lib: lib.ones(2).exp(1),
    lambda lib: lib.exp(),
    lambda lib: lib.exp(3),
    lambda lib: lib.cat(3),
    lambda lib: lib.cat(lib.ones(2, 2)),
    lambda lib: lib.stack(lib.ones(2, 2)),
    lambda lib: lib.ones(2, 3).broadcast_to(2, 4),
    lambda lib: lib.cat([1, 2]),
    lambda lib: lib.cat([lib.ones(2), 3]),
    lambda lib: lib.stack("a"),
    lambda lib: lib.relu("a"),
    lambda lib: lib.clamp(lib.ones(2)),
    lambda lib: lib.clamp(lib.ones(2), "a"),
    lambda lib: lib.matmul(lib.ones(2, 2), 2),
    lambda lib: lib.ones(2).to("a"),
    lambda lib: lib.ones(2).to(lib.float32, colour=1),
    lambda lib: lib.ones(2).softmax(),
    lambda lib: lib.ones(2).item(3),
    lambda lib: lib.full(2, 1.0, 3, 4),
    lambda lib: lib.arange(),
    lambda lib: lib.manual_seed(),
    lambda lib: lib.tensor(),
    lambda lib: lib.tensor([1], [2]),
    lambda lib: lib.eye("a"),
    lambda lib: lib.index_select(lib.ones(2), 0, 1),
    lambda lib: lib.ones(2).no_such_method(),
    lambda lib: lib.max(lib.ones(2), "a"),
    # Kernels fail on these with errors of other types.
    lambda lib: lib.argmax(lib.ones(2), lib.ones(2)),
    lambda lib: lib.diag_embed(lib.ones(2, 2), dim1=lib.ones(2)),
    lambda lib: lib.diag_embed(lib.ones(2), (0, 0)),
    lambda lib: lib.swapaxes(lib.ones(2, 2), lib.ones(2), 0),
    lambda lib: lib.nan_to_num(lib.ones(2), lib.ones(2)),
    lambda lib: lib.unflatten(lib.ones(2), 0, lib.bool),
    lambda lib: lib.log_softmax(lib.ones(2), lib.ones(2)),
    lambda lib: lib.tril(lib.ones(2), lib.ones(2)),
]
CONVERSIONS = [
    lambda lib: lib.ones(2).item(),
    lambda lib: bool(lib.ones(2)),
    lambda lib: bool(lib.ones(0)),
    lambda lib: int(lib.tensor(float("nan"))),
    lambda lib: int(lib.tensor(float("inf"))),
    lambda lib: [1, 2, 3][lib.tensor(1.0)],
    lambda lib: [1, 2, 3][lib.tensor([0, 1])],
    lambda lib: range(lib.tensor(1.5)),
    lambda lib: len(lib.tensor(1.0)),
    lambda lib: list(lib.tensor(1.0)),
    lambda lib: leaf(lib, 2).numpy(),
    lambda lib: lib.ones(2, device="meta").tolist(),
    lambda lib: lib.ones(2, device="meta").numpy(),
    lambda lib: lib.ones(1, device="meta").item(),
    lambda lib: hash(lib.ones(2)) and None,
    lambda lib: lib.ones(2).stride(3),
    lambda lib: lib.ones(2).size(3),
    lambda lib: lib.tensor(1.0).size(0),
]
DEVICES = [
    lambda lib: lib.device("cpu:x"),
    lambda lib: lib.device("cuda:01"),
    lambda lib: lib.device("cuda:-2"),
    lambda lib: lib.device(""),
    lambda lib: lib.device("no such device"),
    lambda lib: lib.device(1.5),
    lambda lib: lib.device("cpu:1", 2),
    lambda lib: lib.device("cpu", -1) and None,
    lambda lib: lib.ones(2, device="cuda:x"),
    lambda lib: lib.ones(2) + lib.ones(2, device="meta"),
    lambda lib: lib.ones(2, device="meta").to("cpu"),
    lambda lib: lib.where(lib.ones(2, dtype=lib.bool, device="meta"), lib.ones(2), lib.ones(2)),
]
AUTOGRAD = [
    lambda lib: leaf(lib, 2).add_(1),
    lambda lib: leaf(lib, 2)[0].add_(1),
    lambda lib: lib.zeros(6).view(2, 3).requires_grad_()[0].add_(1),
    lambda lib: lib.zeros(6).view(2, 3).requires_grad_().__setitem__(0, 3),
    lambda lib: leaf(lib, 2).__setitem__(0, 3),
    lambda lib: leaf(lib, 2).zero_(),
    lambda lib: leaf(lib, 2).uniform_(),
    lambda lib: leaf(lib, 2).copy_(lib.ones(2)),
    lambda lib: lib.ones(2).sum().backward(),
    lambda lib: leaf(lib, 2).backward(),
    lambda lib: (leaf(lib, 2) * 2).backward(lib.ones(3)),
    lambda lib: (leaf(lib, 2) * 2).backward("a"),
    lambda lib: freed(lib).backward(),
    lambda lib: changed(lib, "input"),
    lambda lib: changed(lib, "output"),
    lambda lib: (leaf(lib, 2) * 2).requires_grad_(False),
    lambda lib: setattr(leaf(lib, 2) * 2, "requires_grad", False),
    lambda lib: setattr(leaf(lib, 2), "grad", lib.ones(3)),
    lambda lib: setattr(leaf(lib, 2), "grad", 3),
    lambda lib: setattr(leaf(lib, 2), "grad", lib.ones(2, device="meta")),
    lambda lib: lib.ones(2).register_hook(lambda g: g),
    lambda lib: lib.ones(2).retain_grad(),
    lambda lib: lib.autograd.grad(leaf(lib, 2).sum(), lib.ones(2)),
    lambda lib: lib.autograd.grad(leaf(lib, 2).sum(), leaf(lib, 2)),
    lambda lib: lib.autograd.grad(leaf(lib, 2) * 2, leaf(lib, 2)),
    lambda lib: lib.autograd.backward(leaf(lib, 2).sum(), inputs=[]),
    lambda lib: lib.add(leaf(lib, 2), 1, out=lib.ones(2)),
    lambda lib: lib.add(lib.ones(2), 1, out=leaf(lib, 2)),
    lambda lib: __import__("copy").deepcopy(leaf(lib, 2) * 2),
    lambda lib: setattr(leaf(lib, 2), "grad", lib.ones(2, dtype=lib.float64)),
    lambda lib: no_grad_view(lib).add_(1),
    lambda lib: own_grad(leaf(lib, 2)),
    lambda lib: hooked(leaf(lib, 2), lambda g: 3),
    lambda lib: hooked(leaf(lib, 2), lambda g: g[:1]),
]
# In place on one of several views that an op made at once.
PARTS = [
    lambda lib: (leaf(lib, 4) * 2).split(2)[0].add_(1),
    lambda lib: (leaf(lib, 4) * 2).split([1, 3])[1].mul_(2),
    lambda lib: (leaf(lib, 4) * 2).split(4)[0].zero_(),
    lambda lib: (leaf(lib, 4) * 2).chunk(2)[1].exp_(),
    lambda lib: (leaf(lib, 2, 2) * 2).unbind()[0].add_(1),
    lambda lib: next(iter(leaf(lib, 2, 2) * 2)).add_(1),
    lambda lib: (leaf(lib, 4) * 2).view(2, 2).unbind(1)[1].add_(1),
    lambda lib: (leaf(lib, 4) * 2).split(2)[0][0].add_(1),
    lambda lib: (leaf(lib, 4) * 2).split(2)[0].view(2, 1).add_(1),
    lambda lib: (leaf(lib, 4) * 2).split(2)[0].__setitem__(0, 5.0),
    lambda lib: leaf(lib, 4).split(2)[0].add_(1),
    lambda lib: parts_and_whole(leaf(lib, 4) * 2)[0].add_(1),
    lambda lib: lib.ones(4).split(2)[0].add_(1),
    lambda lib: (leaf(lib, 4) * 2).split(2)[0].detach().add_(1),
    lambda lib: in_no_grad(lib, (leaf(lib, 4) * 2).split(2)[0]),
]
# Texts that say less than PyTorch's, or something else: positions count the tensor whose method is
# called, all overloads are shown, backward meets the last part first, kernels have other names.
LESS = [
    lambda lib: lib.ones(2).transpose("a", 0),
    lambda lib: lib.ones(2).reshape(None),
    lambda lib: lib.ones(2).gather(0, 1),
    lambda lib: lib.arange("a"),
    lambda lib: lib.Tensor(2, 3, 4, "x"),
    lambda lib: sum(part.sum() for part in parts_and_whole(leaf(lib, 4) * 2)).backward(),
    lambda lib: lib.ones(2, dtype=lib.complex64).amax(),
    lambda lib: (leaf(lib, 2) * 2)[0].detach_(),
]
# In place on memory that an argument shows too.
OVERLAPS = [
    lambda m: m[1:].add_(m[:-1]),
    lambda m: m[1:].copy_(m[:-1]),
    lambda m: m.__setitem__(slice(1, None), m[:-1]),
    lambda m: m.mul_(m[0]),
    lambda m: m.mul_(m[0, 0]),
    lambda m: m.add_(m.t()),
    lambda m: m.add_(m.view(16)[:4]),
    lambda m: m[:2].sub_(m[1:3], alpha=2),
    lambda m: m.clamp_(m[0], m[3]),
    lambda m: m.__setitem__((m[:, 0] > 3).nonzero()[:, 0][:1], m[:1]),
    lambda m: m.view(16).scatter_(0, (m.view(16)[:2] > 0).long(), m.view(16)[2:4]),
    lambda m: m.add_(m),
    lambda m: m.add_(m.view(4, 4)),
    lambda m: m.add_(m.detach()),
    lambda m: m[0].add_(m[1]),
    lambda m: m[0].add_(m[:, 0]),
    lambda m: m[::2].add_(m[1::2]),
    lambda m: m[2:].add_(m[:2]),
    lambda m: m.fill_(m[0, 1]),
    lambda m: m.masked_fill_(m > 3, m[0, 2]),
    lambda m: m[1:].masked_fill_(m[:-1] > 3, 0),
    lambda m: m.resize_as_(m[:2]),
    lambda m: m[:0].add_(m[:0]),
]
NUMBERS = [
    lambda lib: int(lib.ones(2)),
    lambda lib: float(lib.ones(0)),
    lambda lib: complex(lib.ones(2)),
    lambda lib: float(lib.tensor(1 + 2j)),
    lambda lib: "a" in lib.ones(2),
]


def own_grad(x):
    x.grad = x


def hooked(x, hook):
    x.register_hook(hook)
    (x * 2).sum().backward()


def parts_and_whole(x):
    parts = x.split(2)
    x.add_(1)
    return parts


def in_no_grad(lib, t):
    with lib.no_grad():
        return t.add_(1)


@pytest.mark.parametrize("call", OVERLAPS)
def test_arguments_that_show_the_memory_written(call):
    found = [outcome(call, lib.arange(16.0).view(4, 4)) for lib in (torch, pt)]
    if isinstance(found[1], Exception):
        assert isinstance(found[0], type(found[1]))
        assert not missing(*map(str, found))
    elif found[1] is not None:
        assert_close(*found)


def no_grad_view(lib):
    x = leaf(lib, 2) * 1
    with lib.no_grad():
        return x[0]


def test_unknown_names_after_all_ops_were_used():
    assert torch.any(torch.ones(2)).item()
    with pytest.raises(AttributeError, match="no attribute 'no_such_function'"):
        torch.no_such_function


def cases(group, calls):
    return [pytest.param(call, id=f"{group}{i}") for i, call in enumerate(calls)]


@pytest.mark.parametrize(
    "call",
    [
        *cases("shapes", SHAPES),
        *cases("dtypes", DTYPES),
        *cases("arguments", ARGUMENTS),
        *cases("conversions", CONVERSIONS),
        *cases("numbers", NUMBERS),
        *cases("devices", DEVICES),
        *cases("autograd", AUTOGRAD),
        *cases("parts", PARTS),
    ],
)
def test_exceptions_and_their_facts(call):
    found, expected = outcome(call, torch), outcome(call, pt)
    assert_same_outcome(lambda: raise_or_return(found), lambda: raise_or_return(expected))
    if isinstance(expected, Exception):
        assert not missing(str(found), str(expected))


@pytest.mark.parametrize("call", LESS)
def test_exception_types(call):
    assert_same_outcome(lambda: call(torch), lambda: call(pt))


TEXTS = [
    (lambda: torch.ones(2, 3) + torch.ones(4, 5), r"tensor a \(3\).*tensor b \(5\).*dimension 1"),
    (lambda: torch.ones(3).add_(torch.ones(2, 3)), r"\[3\].*\[2, 3\]"),
    (lambda: torch.ones(2, 3).view(4), r"'\[4\]' is invalid for input of size 6"),
    (lambda: torch.ones(2, 3).reshape(5), r"'\[5\]' is invalid for input of size 6"),
    (lambda: torch.ones(0, 3).reshape(0, -1), r"\[0, -1\].*can be any value and is ambiguous"),
    (lambda: torch.ones(2).reshape(-1, -1), r"only one dimension can be inferred"),
    (lambda: torch.ones(2).reshape(-2), r"invalid shape dimension -2"),
    (lambda: setattr(leaf(torch, 2), "data", torch.ones(2, dtype=torch.int64)), r"int64"),
    (lambda: setattr(leaf(torch, 2), "data", [1.0]), r"has to be a tensor, but got list"),
    (lambda: torch.ones(2, 3).expand(4, 3), r"\(4\).*\(2\).*\[4, 3\].*\[2, 3\]"),
    (lambda: torch.ones(2, 3).sum(5), r"\[-2, 1\], but got 5"),
    (lambda: torch.ones(2, 3) @ torch.ones(4, 5), r"2x3 and 4x5"),
    (
        lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 4)]),
        r"Expected size 3 but got size 4 for tensor number 1",
    ),
    (lambda: torch.ones(2)[5], r"index 5 is out of bounds for dimension 0 with size 2"),
    (
        lambda: torch.ones(2)[torch.tensor([7])],
        r"index 7 is out of bounds for dimension 0 with size 2",
    ),
    (
        lambda: torch.ones(2, 3).gather(0, torch.tensor([[9]])),
        r"index 9 .* dimension 0 with size 2",
    ),
    (
        lambda: F.embedding(torch.tensor([9]), torch.ones(3, 2)),
        r"^embedding\(\): index out of range in self.*9.*3",
    ),
    (
        lambda: torch.ones(2).index_select(0, torch.tensor([9])),
        r"^index_select\(\): index out of range in self.*9.*2",
    ),
    (lambda: torch.nn.LazyLinear(2).weight.numel(), r"Attempted to use an uninitialized"),
    (lambda: F.nll_loss(torch.ones(2, 3), torch.tensor([0, 7])), r"7"),
    (lambda: F.dropout(torch.ones(2), 1.5), r"1\.5"),
    (
        lambda: torch.ones(2, 3)[torch.tensor([True, False, True])],
        r"mask \[3\] at index 0.*\[2, 3\] at index 0",
    ),
    (lambda: torch.ones(2, 3)[0, 0, 0], r"dimension 2"),
    (lambda: torch.ones(2).item(), r"2 elements"),
    (lambda: torch.tensor([[1, 2], [3]]), r"length 2 at dim 1 \(got 1\)"),
    (lambda: torch.zeros(2, -3), r"-3"),
    (lambda: torch.add(torch.ones(2), "a"), r"'other' \(position 2\) must be Tensor, not str"),
    (lambda: torch.ones(2).sum("a"), r"'dim' \(position 1\) must be .* not str"),
    (lambda: torch.ones(2).transpose("a", 0), r"'dim0'.*int.*str"),
    (lambda: torch.add(torch.ones(2), 1, beta=2), r"unexpected keyword argument 'beta'"),
    (lambda: torch.ones(2, dtype=torch.int64).add_(1.5), r"Float can't be cast to .* Long"),
    (lambda: torch.ones(2, dtype=torch.int64).mean(), r"Got: Long"),
    (
        lambda: torch.ones(2, dtype=torch.uint16) + torch.ones(2, dtype=torch.int32),
        r"UInt16 and Int",
    ),
    (lambda: torch.ones(2, dtype=torch.uint8).fill_(300), r"uint8 without overflow: 300"),
    (lambda: torch.ones(2).as_strided((5,), (1,)), r"sizes \[5\], strides \[1\].* 20 .* 8"),
    (lambda: torch.ones(2, 3).narrow(0, 1, 5), r"start \(1\) \+ length \(5\).*\(2\)"),
    (lambda: torch.ones(2, 3).split([1, 3]), r"exactly to 2 .*split_sizes=\[1, 3\]"),
    (lambda: torch.ones(2, device="cuda"), r"'cuda' \(installed: .*\)\.\n  fix: use "),
    (lambda: torch.ones(2) + torch.ones(2, device="meta"), r"meta.*cpu|cpu.*meta"),
    (lambda: (leaf(torch, 2) * 2).backward(torch.ones(3)), r"\[3\].*\[2\]"),
    (lambda: freed(torch).backward(), r"second time.*retain_graph=True"),
    (lambda: changed(torch, "output"), r"version 1; expected version 0"),
    (lambda: leaf(torch, 2).add_(1), r"a leaf Variable that requires grad"),
    (lambda: torch.ones(2).sum().backward(), r"element 0 of tensors does not require grad"),
]


@pytest.mark.parametrize(("call", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_texts_carry_the_values(call, text):
    with pytest.raises(Exception, match=text):
        call()


def test_a_failed_op_changes_nothing():
    x = torch.ones(3)
    version = x._version
    for call in (
        lambda: x.add_(torch.ones(2)),
        lambda: x.copy_(torch.ones(2)),
        lambda: x.mul_("a"),
        lambda: x.__setitem__(5, 1),
        lambda: x.__setitem__(torch.tensor([0, 9]), 1.0),
    ):
        with pytest.raises((RuntimeError, TypeError, IndexError)):
            call()
    assert x.tolist() == [1, 1, 1]
    assert x._version == version


def test_modes_survive_errors():
    with pytest.raises(RuntimeError), torch.no_grad():
        torch.ones(2) + torch.ones(3)
    assert torch.is_grad_enabled()
    x = leaf(torch, 2)
    with pytest.raises(RuntimeError):
        x.backward()
    assert torch.is_grad_enabled()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]
