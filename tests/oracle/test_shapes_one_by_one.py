"""Every op with each tensor in turn of another rank or size: PyTorch's results, gradients and errors."""

import math
from dataclasses import replace
from itertools import cycle, islice

import pytest

from mindtorch_core.operators.recipes import TensorRecipe
from test_arguments_one_by_one import NAMES, differing

_SERVED = "PyTorch refuses what broadcasts elsewhere, or reads past it"
_OTHER = "refused with another type of error"
_BOUNDS = "an index that is out of bounds is an IndexError here"
_EMPTY = "PyTorch's kernels refuse empty ones, or take them for anything"

# What differs on purpose, by op.
KNOWN = {
    **dict.fromkeys(("lu_unpack", "pdist"), "PyTorch crashes"),
    "roll": "PyTorch has no such overload",
    **dict.fromkeys(("resize_", "resize_as_"), "what is new has any value"),
    **dict.fromkeys(("fft_fft", "fft_ifft", "fft_rfft", "fft_irfft", "fft_hfft", "fft_ihfft", "linalg_vander",
                     "norm_except_dim", "cholesky", "conv_tbc", "pixel_unshuffle", "instance_norm"), _EMPTY),
    **dict.fromkeys(("scatter_add", "scatter.src", "scatter.reduce", "scatter_reduce.two", "bilinear", "lu_solve",
                     "linalg_lu_solve", "linalg_ldl_solve", "linalg_pinv.atol_rtol_tensor", "baddbmm", "addbmm",
                     "affine_grid_generator", "rms_norm", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "embedding_renorm_"), _OTHER),
    **dict.fromkeys(("nll_loss", "nll_loss_forward"), "refused as by its public function"),
    **dict.fromkeys(("index_select", "index_add", "index_fill.int_Scalar", "index_copy", "embedding"), _BOUNDS),
    **dict.fromkeys(("batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "soft_margin_loss",
                     "fractional_max_pool2d", "trapezoid.x", "trapz.x", "cumulative_trapezoid.x", "linalg_lstsq"), _SERVED),
    **dict.fromkeys(("smooth_l1_loss", "huber_loss"), "PyTorch's gradient of what broadcasts counts the input's elements"),
    **dict.fromkeys(("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input"), "modules look at shapes first"),
    **dict.fromkeys(("quantile", "quantile.scalar", "nanquantile", "nanquantile.scalar"), "equal ones share no gradient"),
    **dict.fromkeys(("linalg_pinv.rcond_tensor", "linalg_matrix_rank.tol_tensor"), "a tolerance adds no dimensions here"),
    "nuclear_norm": "over matrices, not over all dimensions but two",
    "linalg_cond": "of a singular matrix: any large number",
    "gradient.tensorarray": "coordinates have to be as many as the elements",
    "bucketize.Tensor": "boundaries that do not rise",
    "ctc_loss.Tensor": "lengths are one for each sequence",
    "set_.source_Tensor_storage_offset": "memory is not resized here",
}  # fmt: skip


def shapes(shape):
    """Shapes beside one: a dimension more, one less, an element more at either end, none."""
    yield (1, *shape)
    yield (2, *shape)
    if shape:
        yield shape[1:]
        yield (*shape[:-1], shape[-1] + 1)
        yield (shape[0] + 1, *shape[1:])
        yield (0, *shape[1:])


def of_shape(recipe, shape):
    """A tensor of another shape with the same values, again from the first where there are more."""
    count = math.prod(shape)
    kept = recipe.values and tuple(islice(cycle(recipe.values), count))
    return replace(recipe, shape=shape, values=kept)


def changed(d, sample):
    """A sample with each tensor changed in turn, and what was changed."""
    for i, given in enumerate(sample.args):
        if not isinstance(given, TensorRecipe):
            continue
        for shape in dict.fromkeys(shapes(given.shape)):
            args = (*sample.args[:i], of_shape(given, shape), *sample.args[i + 1 :])
            yield f"{i} of {shape}", type(sample)(sample.name, args, sample.kwargs)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in KNOWN])
def test_each_tensor(name):
    found = [*differing(name, changed)]
    assert not found, "\n".join(found)
