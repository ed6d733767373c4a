"""Which dtypes losses take of inputs and targets, and what they make of them: as in PyTorch."""

import itertools
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

DTYPES = ["bool", "int64", "float16", "float32", "float64", "complex64"]
OF_PAIRS = """
    mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss binary_cross_entropy
    binary_cross_entropy_with_logits kl_div poisson_nll_loss hinge_embedding_loss
    multilabel_soft_margin_loss
"""


def values(lib, name, shape=(3, 4)):
    """Quarters up to 3/4, or ones where a dtype has no fractions."""
    d = getattr(lib, name)
    x = lib.arange(12).reshape(shape) % 3 + 1
    return (x / 4 if d.is_floating_point or d.is_complex else x // x).to(d)


def outcome(run, lib):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run(lib, lib.nn.functional)
    except Exception as error:  # noqa: BLE001 (whatever it is, PyTorch's is the same)
        return error


def check_alike(run):
    found, wanted = outcome(run, torch), outcome(run, pt)
    if isinstance(wanted, Exception):
        assert type(found) is type(wanted), f"{found!r} where PyTorch raises {wanted!r}"
        return
    assert not isinstance(found, Exception), found
    assert str(found.dtype) == str(wanted.dtype)
    pt.testing.assert_close(pt.tensor(found.tolist()).to(wanted.dtype), wanted, rtol=1e-2, atol=0)


@pytest.mark.parametrize("reduction", ["none", "mean"])
@pytest.mark.parametrize("name", OF_PAIRS.split())
def test_inputs_and_targets(name, reduction):
    for a, b in itertools.product(DTYPES, DTYPES):
        check_alike(
            lambda lib, F, a=a, b=b: getattr(F, name)(
                values(lib, a), values(lib, b), reduction=reduction
            )
        )


@pytest.mark.parametrize("log_target", [False, True])
def test_divergence_of_logarithms(log_target):
    for a, b in itertools.product(DTYPES, DTYPES):
        check_alike(
            lambda lib, F, a=a, b=b: F.kl_div(
                values(lib, a), values(lib, b), reduction="sum", log_target=log_target
            )
        )


LABELS = [0, 2, 1]
OF_LABELS = {
    "nll_loss": lambda lib, F, x: F.nll_loss(x, lib.tensor(LABELS)),
    "nll_loss of images": lambda lib, F, x: F.nll_loss(
        x.reshape(1, 3, 2, 2), lib.tensor([[[0, 1], [2, 2]]]), reduction="none"
    ),
    "multi_margin_loss": lambda lib, F, x: F.multi_margin_loss(x, lib.tensor(LABELS)),
    "multilabel_margin_loss": lambda lib, F, x: F.multilabel_margin_loss(
        x, lib.tensor([[0, 2, -1, 0]] * 3)
    ),
    "cross_entropy": lambda lib, F, x: F.cross_entropy(x, lib.tensor(LABELS)),
    "ctc_loss": lambda lib, F, x: F.ctc_loss(
        x.reshape(4, 1, 3), lib.tensor([[1, 2]]), lib.tensor([4]), lib.tensor([2])
    ),
    "margin_ranking_loss": lambda lib, F, x: F.margin_ranking_loss(x, x, x),
    "gaussian_nll_loss": lambda lib, F, x: F.gaussian_nll_loss(x, x, x),
}


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", *DTYPES])
@pytest.mark.parametrize("run", OF_LABELS.values(), ids=OF_LABELS)
def test_scores(run, dtype):
    check_alike(lambda lib, F: run(lib, F, values(lib, dtype)))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_labels(dtype):
    check_alike(
        lambda lib, F: F.nll_loss(
            values(lib, "float32"), lib.tensor(LABELS).to(getattr(lib, dtype)), reduction="sum"
        )
    )


def test_gradient_for_labels_of_bytes():
    found = []
    for lib in (torch, pt):
        x = values(lib, "float32").requires_grad_()
        lib.nn.functional.nll_loss(x, lib.tensor(LABELS).to(lib.uint8)).backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_weights_are_of_the_scores_dtype(dtype):
    check_alike(
        lambda lib, F: F.nll_loss(
            values(lib, "float32"), lib.tensor(LABELS), weight=values(lib, dtype)[0]
        )
    )


@pytest.mark.parametrize("margin", [1.0, 1.5, 0.25])
def test_distances_of_integers_are_cut_off(margin):
    check_alike(
        lambda lib, F: F.hinge_embedding_loss(
            lib.tensor([3, -2, 1]), lib.tensor([1, -1, -1]), margin=margin, reduction="none"
        )
    )


def test_gradients_of_rectifiers():
    for a, b in itertools.product(DTYPES, DTYPES):
        check_alike(
            lambda lib, F, a=a, b=b: lib.ops.aten.threshold_backward(
                values(lib, a), values(lib, b), 0.5
            )
        )


OLD = [
    {}, {"reduction": "mean"}, {"reduction": "sum"}, {"reduction": "none"}, {"size_average": True},
    {"size_average": False}, {"reduce": False}, {"reduce": True}, {"size_average": False, "reduce": True},
    {"size_average": True, "reduction": "sum"},
]  # fmt: skip


@pytest.mark.parametrize("options", [*OLD, {"reduction": "batchmean"}], ids=str)
@pytest.mark.parametrize("name", sorted({*OF_PAIRS.split()} - {"huber_loss"}))
def test_old_and_new_names_of_reductions(name, options):
    """The results, and each warning with the line that it names."""
    found = []
    for lib in (torch, pt):
        pair = (values(lib, "float64"), values(lib, "float64", (4, 3)).T)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                made = getattr(lib.nn.functional, name)(*pair, **options).tolist()
            except ValueError:
                made = "refused"
        found.append((made, [(w.category, str(w.message)[:60]) for w in told]))
        assert lib is pt or {w.filename for w in told} <= {__file__}
    (ours, said), (theirs, expected) = found
    assert said == expected
    assert (ours == "refused") == (theirs == "refused")
    if ours != "refused":
        pt.testing.assert_close(pt.tensor(ours), pt.tensor(theirs))
