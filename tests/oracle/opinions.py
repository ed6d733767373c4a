"""What PyTorch says of an op's samples, in float64: results and gradients. And where it is no judge, with the reason."""

import warnings

import pytest

from mindtorch_core.dispatch.schema import parse_schema
from mindtorch_core.dispatch.written import written_places
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.testing.comparison import assert_close
from mindtorch_core.testing.conformance.cases import NEEDS_DTYPE, Case
from mindtorch_core.testing.conformance.pytorch import arguments_of, function_of
from mindtorch_core.testing.samples import samples

pt = pytest.importorskip("torch")

REFUSED = (RuntimeError, TypeError, IndexError, NotImplementedError, ValueError)


_FACTORS = "what holds factors of a matrix differs; the public function is compared"
_FREE = "signs of vectors are free; test_linalg multiplies them out"
_SPREAD = "PyTorch's op takes a list"
_HERE = "a part of other ops, which are compared"
# Ops whose results PyTorch's own need not equal, with the reason.
DIFFERENT = {
    **dict.fromkeys(("_linalg_det", "_linalg_slogdet", "_linalg_solve_ex"), _FACTORS),
    **dict.fromkeys(("_linalg_eigh", "_linalg_svd"), _FREE),
    **dict.fromkeys(
        ("_ctc_loss", "_ctc_loss_backward", "_ctc_loss.Tensor", "_ctc_loss_backward.Tensor"),
        "what is kept for backward differs where no path goes; ctc_loss is compared",
    ),
    "silu_backward": "PyTorch forgets the conjugate of complex numbers; silu's gradient is compared",
    "_embedding_bag": "the results beside the first serve its own backward: test_bags",
    **dict.fromkeys(
        ("_standard_gamma_grad", "_dirichlet_grad"),
        "PyTorch approximates them to three digits; test_distributions compares gradients",
    ),
}
# Ops whose gradients are right here, and others in PyTorch 2.13.
GRADIENTS = {
    "_fused_rms_norm": "PyTorch's parts give the second result a gradient, its kernels do not",
    "polar": "PyTorch takes the sign of a negative length into its gradient",
    "cholesky_solve": "PyTorch gives a gradient to the half that is not read",
    "cholesky_inverse": "PyTorch gives a gradient to the half that is not read",
    "embedding_dense_backward": "PyTorch's second derivative forgets the frequencies",
    "grid_sampler": "at the border, where there is a kink, PyTorch takes the other side",
    "fake_quantize_per_tensor_affine.tensor_qparams": "a scale with a gradient is refused: by PyTorch at once",
    "fill.Tensor": "PyTorch gives zeros to what is overwritten, here it has no gradient",
    "as_strided_scatter": "PyTorch keeps the gradient of what was overwritten, and drops the rest",
}
# Ops that PyTorch has no function for, or not with these arguments, with what is compared instead.
NOT_THERE = {
    **dict.fromkeys(
        ("_to_dtype", "_to_device", "_index_positions", "_index_put_positions", "_real", "_lu_order",
         "_householder_product", "_convolution_weight", "_lexicographic_order", "_one_hot_of",
         "max_pool1d_with_indices_backward", "avg_pool1d_backward"), _HERE),
    "linear_backward": "PyTorch's serves other devices: linear's gradients are compared",
    "_scaled_mm": "its matrices are of 8-bit floats: test_float8",
    "_fused_rms_norm_backward": "its kernels are those of other devices: rms_norm's gradients are compared",
    "_scaled_dot_product_fused_attention_overrideable_backward": "as well: test_device_attention",
    **dict.fromkeys(
        ("_rdiv", "_rfloordiv", "_rmod", "_rpow", "_rmatmul", "_rlshift", "_rrshift"),
        "what Python's operators call with the operands exchanged: test_pointwise"),
    **dict.fromkeys(
        ("chain_matmul", "cartesian_prod", "block_diag", "atleast_1d.spread", "atleast_2d.spread",
         "atleast_3d.spread"), _SPREAD),
    **dict.fromkeys(
        ("linalg_eigh", "linalg_eig", "linalg_qr", "qr", "linalg_svd", "svd"), _FREE),
    **dict.fromkeys(
        ("conv1d.padding", "conv2d.padding", "conv3d.padding"),
        "PyTorch's overload is chosen by a text, which the samples give by its place: test_opinfo"),
    **dict.fromkeys(
        ("embedding_bag", "embedding_bag.padding_idx", "_embedding_bag_forward_only"),
        "the results beside the first serve its own backward: test_bags"),
    "fractional_max_pool3d": "PyTorch's op wants the places drawn: test_opinfo",
    **dict.fromkeys(
        ("_fused_adagrad_", "_fused_adagrad_.tensor_lr"),
        "PyTorch's op takes no such lists: test_optiminfo compares its steps"),
    **dict.fromkeys(
        ("_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward_impl"),
        "PyTorch has it on CUDA only: test_fused_gradients"),
    **dict.fromkeys(
        ("_recurrent_steps", "_recurrent_steps_backward"),
        "PyTorch has none: test_recurrent_steps"),
    "_grouped_mm": "PyTorch's takes 16 bits and aligned rows alone: test_grouped_mm",
    "cumprod_backward": "the sample's result is not that of its input",
    "unique_dim": "results that were not asked for have any shape: test_opinfo",
    "special_airy_ai": "PyTorch 2.13 gives nan at infinity, where the limit is 0: test_special_values",
}  # fmt: skip


def judged(d):
    return d.functional is None and not d.traits.random and not d.traits.undefined


OPS = {d.name: d for d in definitions() if judged(d)}


def leaves_of(values):
    for value in values:
        if isinstance(value, list | tuple):
            yield from leaves_of(value)
        elif hasattr(value, "requires_grad"):
            yield value


def flat(result):
    """The tensors among results."""
    if isinstance(result, tuple | list):
        return [t for part in result for t in flat(part)]
    return [result] if hasattr(result, "dtype") else []


def backward(results):
    """Gradients of the results, weighted unevenly, for what they depend on."""
    total = 0
    for t in results:
        if t.requires_grad:
            weights = [(i * 5 % 7 + 1) / 4 for i in range(t.numel())]
            made = t.new_tensor(weights).reshape(t.shape).detach()
            total = total + (t * made).sum()
    if isinstance(total, int):
        return False
    (total.real if total.is_complex() else total).backward()
    return True


def with_gradients(leaves, call, wanted):
    """Results of a call, the floating arguments, and their gradients, None where there are none."""
    for t in leaves if wanted else ():
        if t.is_floating_point() or t.is_complex():
            t.requires_grad_()
    results = flat(call())
    try:
        recorded = wanted and backward(results)
    except REFUSED:
        recorded = False
    return results, leaves, [t.grad for t in leaves] if recorded else None


def theirs(case, sample):
    """PyTorch's results and gradients of a sample; None if it takes no such call."""
    fn = function_of(case)
    if fn is None or case.name in DIFFERENT or case.name in NOT_THERE:
        return None
    returns = bool(parse_schema(case.op.schema).returns)
    for wanted in (True, False) if returns else (False,):  # no leaf that requires grad is written
        args, kwargs = arguments_of(sample)
        leaves = list(leaves_of((*args, *kwargs.values())))
        with warnings.catch_warnings(action="ignore"):
            try:
                return with_gradients(leaves, lambda: result_of(case, fn, args, kwargs), wanted)
            except REFUSED:
                continue
    return None


def result_of(case, fn, args, kwargs):
    """What a function of PyTorch returns, or has written if it returns nothing."""
    made, schema = fn(*args, **kwargs), parse_schema(case.op.schema)
    if schema.returns:
        return made
    return [args[i] if i >= 0 else kwargs[name] for i, name in written_places(schema)]


def ours(case, sample, wanted):
    args, kwargs = sample.build("cpu")
    leaves = list(leaves_of((*args, *kwargs.values())))
    with warnings.catch_warnings(action="ignore"):
        return with_gradients(leaves, lambda: case.call(args, kwargs), wanted)


def opinions(name):
    """For each sample of an op that PyTorch takes: the sample, and its results and gradients."""
    d = OPS[name]
    for each in samples(d):
        sample = each if name in NEEDS_DTYPE else each.in_float64()
        expected = theirs(Case(d, each), sample)
        if expected is not None:
            yield Case(d, each), sample, expected


def plain(t):
    """A tensor of PyTorch as one with memory of its own."""
    t = t.detach()
    return (
        pt.zeros(t.shape, dtype=t.dtype) if t._is_zerotensor() else t.resolve_conj().resolve_neg()
    )


def compare(found, wanted, what):
    assert_close(
        found.detach(), wanted, rtol=1e-6, atol=1e-6, equal_nan=True, check_dtype=False, msg=what
    )
