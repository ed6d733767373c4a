"""Every op with each argument, one at a time, at the limits of what it may be: PyTorch's results, gradients and errors."""

import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.schema import parse_schema
from mindtorch_core.testing.comparison import from_pytorch, outcome
from mindtorch_core.testing.conformance.cases import NEEDS_DTYPE, Case
from mindtorch_core.testing.conformance.pytorch import arguments_of, function_of
from mindtorch_core.testing.samples import samples
from opinions import (
    DIFFERENT,
    GRADIENTS,
    NOT_THERE,
    OPS,
    compare,
    leaves_of,
    plain,
    pt,
    result_of,
    with_gradients,
)

FLOATS = (-1.0, 0.0, 0.25, 1.0, 2.0)
NUMBERS = (-2, 0, 1, 0.5, True)
TYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex128)
LEFT_ALONE = ("device", "layout", "generator", "pin_memory", "requires_grad", "memory_format")
TEXTS = {
    "rounding_mode": ("trunc", "floor"),
    "side": ("left", "right"),
    "indexing": ("ij", "xy"),
    "reduce": ("sum", "prod", "mean", "amax", "amin"),
    "approximate": ("none", "tanh"),
    "interpolation": ("linear", "lower", "higher", "midpoint", "nearest"),
    "norm": ("forward", "backward", "ortho"),
    "UPLO": ("L", "U"),
    "driver": ("gels", "gelsd"),
    "mode": ("reduced", "complete", "r", "constant", "reflect", "replicate", "circular"),
}


# What differs on purpose, by op and argument.
_FEWER = "PyTorch's kernels are for fewer dtypes"
KNOWN = {
    **{(n, "dtype"): "PyTorch has one flag of them" for n in ("linspace", "logspace")},
    ("eye", "m"): "PyTorch's overload without it is another",
    ("range", "dtype"): _FEWER,
    **{(f"{n}_window", "dtype"): "test_factories compares them"
       for n in ("bartlett", "blackman", "hamming", "hann", "kaiser")},
    ("resize_", "size"): "what is new has any value",
    ("fft_rfftfreq", "n"): "PyTorch takes negative numbers",
    ("istft", "length"): "PyTorch takes a negative length",
    ("index_select", "dim"): "an index that is out of bounds is an IndexError here",
    ("linalg_lstsq", "rcond"): "PyTorch's driver takes it for something else",
    **{(f"conv_transpose{n}d", a): "one number stands for several, and PyTorch's op takes lists"
       for n in (1, 2, 3) for a in ("groups", "dilation")},
    **{(f"{n}", a): "one number stands for two" for n, a in (
        ("adaptive_avg_pool2d", "output_size"), ("adaptive_max_pool2d", "output_size"), ("im2col", "kernel_size"),
        ("im2col", "dilation"), ("im2col", "padding"), ("im2col", "stride"), ("col2im", "output_size"),
        ("col2im", "kernel_size"), ("col2im", "dilation"), ("col2im", "padding"), ("col2im", "stride"))},
    **{(n, "output_size"): "an index beyond the volume is an error here" for n in ("max_unpool2d", "max_unpool3d")},
    **{("max_unpool3d", a): "PyTorch looks at it for nothing but this" for a in ("stride", "padding")},
    **{(n, a): "refused here, read as something else there"
       for n in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d") for a in ("interpolation_mode", "padding_mode")},
    **{("fractional_max_pool2d", a): "test_settings compares it" for a in ("kernel_size", "output_size")},
    ("conv_tbc", "pad"): "PyTorch takes a negative one",
    **{("ctc_loss", a): "labels that are blank, or lengths beyond the labels, are memory beyond them there"
       for a in ("blank", "input_lengths", "target_lengths")},
    ("affine_grid_generator", "size"): "its public function looks at sizes: refused here as by that",
    ("nll_loss_forward", "reduction"): "the weight beside losses that are not reduced has any value",
    ("cross_entropy_loss", "label_smoothing"): "PyTorch takes a negative one for none",
    ("rms_norm", "normalized_shape"): "refused with another type",
    ("gradient", "dim"): "as well",
    **{(n, "keepdim"): "PyTorch's overload without dimensions has none" for n in ("sum", "mean", "prod")},
    ("prod", "dim"): "as well",
    **{(n, "dim"): "PyTorch's gradient over no dimension is that of one element" for n in ("var", "std")},
    ("segment_reduce", "reduce"): "it has names of its own",
    ("topk", "sorted"): "what is not sorted has any order",
    ("isin", "test_element"): "flags are served here",
    ("isin", "element"): "as well",
    **{(n, a): "results that were not asked for have any shape" for n in ("unique_consecutive", "unique_dim_consecutive")
       for a in ("dim", "return_inverse", "return_counts")},
    ("special_logsumexp", "dim"): "PyTorch has none over no dimension",
    ("narrow_copy", "dim"): "an IndexError here",
    ("narrow_copy", "start"): "PyTorch gives its gradient to other rows",
    ("set_", "storage_offset"): "memory is not resized here",
    ("set_", "stride"): "as well",
}  # fmt: skip


def others(a, given):
    """What an argument of a schema may be besides."""
    if a.is_list:
        plainly = (
            isinstance(given, list | tuple) and given and all(isinstance(v, int) for v in given)
        )
        if a.type == "int" and plainly:
            lists = [
                tuple(v if i != k else w for i, v in enumerate(given))
                for k in range(len(given))
                for w in (-1, 0, 1, 2)
            ]
            return [*lists, (*given, given[-1]), given[1:]]
        return []
    found = {
        "float": FLOATS,
        "Scalar": NUMBERS,
        "int": (-3, -2, -1, 0, 1, 2, 3),
        "ScalarType": TYPES,
    }.get(a.type, ())
    found = (True, False) if a.type == "bool" else found
    found = (0, 1, 2) if a.name == "reduction" else found
    found = (*TEXTS.get(a.name, ()), "other") if a.type == "str" else found
    return [*found, None] if a.optional and a.type != "Tensor" else [*found]


def changed(d, sample):
    """A sample with each argument changed in turn: the changed ones, with what was changed."""
    arguments = parse_schema(d.schema).arguments
    for i, a in enumerate(arguments):
        if a.name in LEFT_ALONE or (d.base_name, a.name) in KNOWN:
            continue
        given = sample.args[i] if i < len(sample.args) else sample.kwargs.get(a.name, a.default)
        for other in others(a, given):
            if other == given and type(other) is type(given):
                continue
            if i < len(sample.args):
                args, kwargs = (*sample.args[:i], other, *sample.args[i + 1 :]), sample.kwargs
            else:
                args, kwargs = sample.args, {**sample.kwargs, a.name: other}
            yield f"{a.name}={other!r}", type(sample)(sample.name, args, kwargs)


def told(call):
    """The error of a call, or its results, operands and gradients."""
    with warnings.catch_warnings(action="ignore"):
        return outcome(call)


def theirs(case, sample, fn):
    def call(wanted):
        args, kwargs = arguments_of(sample)
        leaves = list(leaves_of((*args, *kwargs.values())))
        return with_gradients(leaves, lambda: result_of(case, fn, args, kwargs), wanted)

    found = told(lambda: call(True))
    return told(lambda: call(False)) if isinstance(found, Exception) else found


def ours(case, sample, wanted):
    args, kwargs = sample.build("cpu")
    leaves = list(leaves_of((*args, *kwargs.values())))
    return told(lambda: with_gradients(leaves, lambda: case.call(args, kwargs), wanted))


def differs(case, sample, fn):
    """How an outcome differs from PyTorch's; None if it does not."""
    expected = theirs(case, sample, fn)
    refused = isinstance(expected, Exception)
    found = ours(case, sample, not refused and expected[2] is not None)
    if refused or isinstance(found, Exception):
        if refused and isinstance(found, type(expected)):
            return None
        mine = (
            repr(found)[:90] if isinstance(found, Exception) else [tuple(t.shape) for t in found[0]]
        )
        return f"{mine}, not {repr(expected)[:90] if refused else [tuple(t.shape) for t in expected[0]]}"
    if len(found[0]) != len(expected[0]):
        return None
    try:
        for mine, want in zip(found[0], expected[0], strict=True):
            assert str(mine.dtype).rpartition(".")[2] == str(want.dtype).rpartition(".")[2], (
                mine.dtype,
                want.dtype,
            )
            compare(mine, plain(want), "result")
        pairs = zip(expected[1], found[2] or (), expected[2] or (), strict=False)
        for t, mine, want in pairs if case.name not in GRADIENTS else ():
            if want is not None and mine is not None and want.layout is pt.strided:
                odd = ~t.detach().isfinite()
                compare(mine.where(from_pytorch(~odd), 0), plain(want).where(~odd, 0), "gradient")
    except AssertionError as error:
        return str(error)[:150]
    return None


def differing(name, change):
    """How outcomes of an op differ from PyTorch's, of its first sample as ``change`` gives it."""
    d = OPS[name]
    for each in [*samples(d)][:1]:
        sample = each if name in NEEDS_DTYPE else each.in_float64()
        fn = function_of(Case(d, each))
        for what, other in change(d, sample) if fn is not None else ():
            said = differs(Case(d, other), other, fn)
            if said is not None:
                yield f"{name} {each.name} {what}: {said}"


# Parts of other ops, which get arguments that fit: PyTorch looks at them to say so, or crashes.
NAMES = [
    n
    for n in OPS
    if n[0] != "_"
    and "backward" not in n
    and "native_" not in n
    and n not in DIFFERENT
    and n not in NOT_THERE
]


@pytest.mark.parametrize("name", NAMES)
def test_each_argument(name):
    found = [*differing(name, changed)]
    assert not found, "\n".join(found)
