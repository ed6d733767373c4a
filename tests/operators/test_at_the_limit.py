"""Values and texts just at the limits of what ops take, against PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def told(lib, text):
    """Values, or the text of the error."""
    try:
        found = eval(text, {"torch": lib, "F": lib.nn.functional, "t": lib.tensor})
    except Exception as error:  # noqa: BLE001 (compared)
        return type(error).__name__, str(error).partition("\n")[0]
    return found.tolist() if hasattr(found, "tolist") else found


ROWS = "t([[3.0, 4.0], [3.0, 4.000001], [0.3, 0.4]])"


@pytest.mark.parametrize(
    "text",
    [
        f"F.embedding(t([0, 2]), {ROWS}.double(), max_norm=5.0)",
        f"F.embedding_bag(t([[0, 2]]), {ROWS}, max_norm=5.0)",
        "torch.ones(3).index_copy(0, t([[0, 1]]), torch.ones(2))",
        "torch.ones(3).index_copy(0, t(1), t(2.0))",
        *(f"F.pixel_{kind}(torch.ones(1, 4, 2, 2), {by})" for kind in ("shuffle", "unshuffle") for by in (-1, 0, 1, 2, 3)),
        "F.pixel_shuffle(torch.ones(4, 2), 1)",
        *(f"torch.ones(2, 3).expand({sizes}).stride()" for sizes in ("1, 2, 3", "1, 1, 2, 3", "4, 1, 2, 3", "1, 4, 2, 3")),
        "F.pixel_unshuffle(torch.ones(1, 4, 2, 3), 2)",
        *(f"torch.ones(2, 3)[{at}]" for at in ("1", "2", "-2", "-3", "0, 2", "0, 3", "0, -3", "0, -4", ":, 3", "..., 3")),
        "F.multilabel_margin_loss(t([0.1, 0.2, 0.4, 0.8]), t([3, 0, -1, 1]))",
        "F.multilabel_margin_loss(t([[0.1, 0.2, 0.4], [0.5, -1.0, 2.0]]), t([[2, 0, -1], [-1, 0, 1]]), reduction='none')",
        "F.multilabel_margin_loss(t([[0.1, 0.2]]), t([0, 1]))",
    ],
)  # fmt: skip
def test_at_the_limit(text):
    mine, theirs = told(torch, text), told(pt, text)
    assert mine == (pytest.approx(theirs) if "margin" in text else theirs)
