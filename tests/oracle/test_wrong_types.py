"""Arguments of a wrong type, one at a time in the samples of every op: refused where PyTorch refuses them."""

import traceback
import warnings

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.schema import parse_schema
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.samples import samples

pt = pytest.importorskip("torch")

# By the type of the argument; PyTorch's parser takes none of these for it.
WRONG = {
    "bool": (1, "a", 1.0),
    "int": (2.0, True, "a"),
    "float": ("a", [1.0]),
    "Scalar": ("a", [1.0]),
}
# Functions that are written in Python, here or there: what they do with an argument is theirs.
IN_PYTHON = {"cov", "gradient.scalararray", "norm.ScalarOpt_dim"}
OPS = [
    d
    for d in definitions()
    if d.functional is None
    and "torch" in d.exposure.namespaces
    and not d.base_name.startswith("_")
    and d.name not in IN_PYTHON
]


def cases(d):
    """Calls of PyTorch's function of an op and ours with one wrong argument by name."""
    schema = parse_schema(d.schema)
    sample = next(iter(samples(d)), None)
    if sample is None:
        return
    args, kwargs = sample.build("cpu")
    for i, a in enumerate(schema.arguments):
        if a.optional or a.name in ("requires_grad", "pin_memory"):
            continue
        several = a.is_list and a.type == "int" and i < len(args)
        if a.is_list:
            wrongs = [(True, *args[i][1:])] if several and isinstance(args[i], list | tuple) else []
        else:
            wrongs = WRONG.get(a.type, ())
        for wrong in wrongs:
            if i < len(args):
                yield a.name, wrong, (*args[:i], wrong, *args[i + 1 :]), kwargs
            else:
                yield a.name, wrong, args, {**kwargs, a.name: wrong}


def test_every_op_refuses_them():
    found, seen = [], 0
    for d in OPS:
        theirs, ours = getattr(pt, d.base_name, None), getattr(torch, d.base_name)
        if not callable(theirs) or hasattr(theirs, "__code__"):
            continue  # written in Python there
        for name, wrong, args, kwargs in cases(d):
            seen += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                error = outcome(ours, *args, **kwargs)
            if not isinstance(error, TypeError):
                found.append(f"{d.name}: {name}={wrong!r} gives {type(error).__name__}")
    assert seen > 300
    assert not found, "\n".join(found)


NAMED = ("argument '", "argument 0", "expected Tensor as element", "invalid combination")


def public(d):
    """An op's functions and method."""
    for each in d.exposure.namespaces:
        home, _, name = each.partition(":")
        homes = {"torch": torch, "nn": torch.nn.functional}
        yield getattr(homes.get(home) or getattr(torch, home), name or d.base_name)
    if hasattr(torch.Tensor, d.base_name):
        yield getattr(torch.Tensor, d.base_name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrong", [1, "a", [2.5]], ids=repr)
def test_what_is_no_tensor_is_named(wrong):
    """A number may stand for a tensor: then what is wrong with it is said."""
    found, seen = [], 0
    for d in definitions():
        sample = next(iter(samples(d)), None)
        args, kwargs = sample.build("cpu") if sample else ((), {})
        places = [i for i, a in enumerate(parse_schema(d.schema).arguments) if a.type == "Tensor"]
        for i in places:
            for function in public(d) if i < len(args) else ():
                if i == 0 and function is getattr(torch.Tensor, d.base_name, None):
                    continue
                seen += 1
                error = outcome(function, *args[:i], wrong, *args[i + 1 :], **kwargs)
                wanted = TypeError | RuntimeError | ValueError
                if not isinstance(error, Exception):
                    continue
                said = not isinstance(error, TypeError) or any(n in str(error) for n in NAMED)
                if not isinstance(error, wanted) or not said:
                    found.append(f"{d.name}: {i} gives {type(error).__name__}: {error}")
    assert seen > 1500
    assert not found, "\n".join(found)


NO_TENSORS = {
    "is_same_size": lambda lib, no: x(lib).is_same_size(no),
    "is_set_to": lambda lib, no: x(lib).is_set_to(no),
    "detach_": lambda lib, no: lib.detach_(no),
    "is_inference": lambda lib, no: lib.is_inference(no),
    "numel": lambda lib, no: lib.numel(no),
    "map_": lambda lib, no: x(lib).map_(no, lambda a, b: a),
    "map2_": lambda lib, no: x(lib).map2_(no, x(lib), lambda a, b, c: a),
    "to_dlpack": lambda lib, no: lib.utils.dlpack.to_dlpack(no),
    "masked_fill": lambda lib, no: x(lib).masked_fill(no, 1.0),
    "set_": lambda lib, no: x(lib).set_(no, 0, (1,)),
    "embedding": lambda lib, no: lib.nn.functional.embedding(x(lib).long(), no),
    "gumbel_softmax": lambda lib, no: lib.nn.functional.gumbel_softmax(no),
    "invert_permutation": lambda lib, no: lib.nn.utils.rnn.invert_permutation(no),
    "pad_sequence": lambda lib, no: lib.nn.utils.rnn.pad_sequence([x(lib), no]),
}


@pytest.mark.parametrize("no", [1, "a", [2.5]], ids=repr)
@pytest.mark.parametrize("what", NO_TENSORS)
def test_what_functions_in_python_say_of_no_tensor(what, no):
    call = NO_TENSORS[what]
    ours, theirs = (outcome(lambda lib: call(lib, no), lib) for lib in (torch, pt))
    assert type(ours) is type(theirs) is TypeError
    assert "Tensor" in str(ours)
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(ours.__traceback__)][2:]
    # Other tests may have had functions ask for overrides: that is one line before them.
    mine = any("mindtorch" in file and "who asks for overrides" not in file for file in files)
    assert not mine


def test_dims_in_a_tensor_of_one():
    found = [lib.tensordot(x(lib), lib.ones(3, 2), lib.tensor([1])).tolist() for lib in (torch, pt)]
    assert found[0] == found[1]
    ours, theirs = (outcome(lib.tensordot, x(lib), x(lib), "a") for lib in (torch, pt))
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))


def x(lib):
    return lib.ones(2, 3)


CALLS = {
    "one_hot of a float": lambda lib: lib.nn.functional.one_hot(lib.tensor([0, 1]), 2.0),
    "permute of None": lambda lib: x(lib).permute(None),
    "a flag of 1": lambda lib: x(lib).sum(0, 1),
    "a flag of numpy": lambda lib: x(lib).sum(0, np.bool_(True)),
    "a flag of a tensor": lambda lib: x(lib).mean(0, keepdim=lib.tensor(True)),
    "largest of 1": lambda lib: x(lib).topk(2, largest=1),
    "tril of a float": lambda lib: x(lib).tril(1.0),
    "tril of True": lambda lib: lib.tril(x(lib), True),
    "alpha of None": lambda lib: lib.add(x(lib), x(lib), alpha=None),
    "eps of None": lambda lib: lib.nn.functional.layer_norm(x(lib), (3,), eps=None),
    "eps of a list": lambda lib: lib.nn.functional.layer_norm(x(lib), (3,), eps=[1]),
    "floats for dims": lambda lib: x(lib).sum([1.0, 0.0]),
    "a list for a dim": lambda lib: x(lib).argmax([1]),
    "cat along None": lambda lib: lib.cat([x(lib)], dim=None),
    "logsumexp along None": lambda lib: lib.logsumexp(x(lib), None),
    "eye of a float": lambda lib: lib.eye(2.0),
    "a size of True": lambda lib: lib.zeros(True),
    "a size of True, in a tuple": lambda lib: lib.full((True,), 1.0),
    "a new one of it": lambda lib: x(lib).new_ones(True),
    "unsqueeze at True": lambda lib: x(lib).unsqueeze(True),
    "transpose of True": lambda lib: x(lib).transpose(0, True),
    "sum along True": lambda lib: x(lib).sum((True,)),
    "the size along True": lambda lib: x(lib).size(True),
    "the stride along a float": lambda lib: x(lib).stride(1.0),
    "permute of nothing": lambda lib: x(lib).permute(),
    "zeros of nothing": lambda lib: lib.zeros(),
    "permute by name of None": lambda lib: x(lib).permute(dims=None),
    "permute of True and another": lambda lib: x(lib).permute(True, 0),
    "roll by True": lambda lib: x(lib).roll(True, 0),
    "windows of True": lambda lib: lib.nn.functional.avg_pool2d(lib.ones(1, 1, 2, 2), True),
}


@pytest.mark.parametrize("what", CALLS)
def test_refused_as_there(what):
    ours, theirs = outcome(CALLS[what], torch), outcome(CALLS[what], pt)
    assert type(ours) is type(theirs) is TypeError
    assert str(ours).partition("()")[0] == str(theirs).partition("()")[0]


@pytest.mark.parametrize(
    "diagonal", [lambda lib: np.int64(1), lambda lib: lib.tensor(1)], ids=["numpy", "tensor"]
)
def test_whole_numbers_of_others_are_ints(diagonal):
    assert torch.triu(x(torch), diagonal(torch)).tolist() == pt.triu(x(pt), diagonal(pt)).tolist()


def test_a_bool_is_a_float():
    ours, theirs = (lib.nn.functional.layer_norm(x(lib), (3,), eps=True) for lib in (torch, pt))
    assert ours.tolist() == theirs.tolist()


TAKEN = {
    "stride of None": lambda lib: lib.nn.functional.avg_pool1d(lib.ones(1, 2, 4), 2, stride=None),
    "stride of None, in order": lambda lib: lib.nn.functional.max_pool1d(
        lib.ones(1, 2, 4), 2, None
    ),
    "amax along None": lambda lib: x(lib).amax(dim=None),
    "roll along None": lambda lib: lib.arange(3).roll(1, None),
    "no gradients, by None": lambda lib: lib.arange(3, requires_grad=None),
    "nor for a window": lambda lib: lib.hann_window(2, requires_grad=None),
}


@pytest.mark.parametrize("what", TAKEN)
def test_none_is_taken_where_it_is_there(what):
    ours, theirs = TAKEN[what](torch), TAKEN[what](pt)
    assert ours.tolist() == theirs.tolist()
    assert not ours.requires_grad


def test_the_gradient_of_pooling_without_a_stride():
    ours, theirs = (lib.arange(8.0).reshape(1, 1, 8).requires_grad_() for lib in (torch, pt))
    for lib, leaf in ((torch, ours), (pt, theirs)):
        lib.nn.functional.avg_pool1d(leaf, 2, None).square().sum().backward()
    assert ours.grad.tolist() == theirs.grad.tolist()


@pytest.mark.parametrize("dims", [(0, 1, 1), (0, 0, 1), (1, 0, -1), (-2, 1, 0)])
def test_the_dimension_that_is_named_is_the_one_that_comes_twice(dims):
    ours, theirs = (outcome(lib.ones(2, 3).amax, dims) for lib in (torch, pt))
    assert type(ours) is type(theirs) is RuntimeError
    assert str(ours).partition("\n")[0] == str(theirs).partition("\n")[0]


@pytest.mark.parametrize("dtype", ["int64", "float32", "bool", "complex64"])
@pytest.mark.parametrize("alpha", [True, 1.0, 1 + 0j, 1, np.int64(1)], ids=repr)
def test_a_factor_of_one_of_another_type(dtype, alpha):
    def calls(lib):
        t = lib.ones(3, dtype=getattr(lib, dtype))
        grad = lib.ones(3, requires_grad=True)
        yield lambda: lib.add(t, t, alpha=alpha)
        yield lambda: lib.sub(t, 1, alpha=alpha)
        yield lambda: t.clone().add_(t, alpha=alpha)
        yield lambda: lib.add(grad, t, alpha=alpha)

    for ours, theirs in zip(calls(torch), calls(pt), strict=True):
        wanted = outcome(lambda _: theirs(), pt)
        for deferred in (False, True):
            with torch.pipeline() if deferred else torch.enable_grad():
                found = outcome(lambda _: ours(), torch)
            if isinstance(wanted, Exception):
                assert (type(found), str(found)) == (type(wanted), str(wanted))
            else:
                assert found.tolist() == wanted.tolist()
