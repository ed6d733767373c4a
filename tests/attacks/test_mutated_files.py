"""Files with changes anywhere: they give tensors or a documented error, take little, and run nothing."""

import pytest
from attack import SECONDS, alone, first_seed, told

pytest.importorskip("resource")

pytestmark = pytest.mark.slow


def written_elsewhere(folder):
    """PyTorch's formats, if it is there: archives, and what came before them."""
    try:
        import torch as pt
    except ImportError:
        return
    things = {
        "w": pt.arange(6.0).reshape(2, 3).t(),
        "p": pt.nn.Parameter(pt.ones(3)),
        "n": [1, "a"],
    }
    pt.save(things, folder / "new.pt")
    pt.save(things, folder / "old.pt", _use_new_zipfile_serialization=False)


def test_mutated_files(tmp_path):
    written_elsewhere(tmp_path)
    script = (
        "import sys, mutated_files as m; m.main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])"
    )
    try:
        alone(script, first_seed(), SECONDS or 4, tmp_path)
    except AssertionError as error:
        seed = tmp_path / "seed"
        pytest.fail(told(seed.read_text() if seed.exists() else "?", error))
