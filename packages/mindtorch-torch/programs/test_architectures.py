"""Base models of transformers, made small by a rule, beside numbers that PyTorch gave."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
if "mindtorch" not in torch.__version__:
    pytest.skip("torch is PyTorch here: see `nox -s programs`", allow_module_level=True)
transformers = pytest.importorskip("transformers")

import architectures

RECORDED = json.loads((Path(__file__).parent / "architectures.json").read_text("utf-8"))
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        transformers.__version__.split(".")[:2] != RECORDED["transformers"].split(".")[:2],
        reason="the numbers are of another version of transformers",
    ),
]


@pytest.mark.parametrize("name", RECORDED["models"])
def test_an_architecture(name):
    results, graded = architectures.played(name)
    wanted, wanted_graded = RECORDED["models"][name]
    assert results == pytest.approx(wanted, rel=2e-4)
    assert graded == wanted_graded
