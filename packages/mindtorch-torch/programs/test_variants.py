"""Ways to use libraries on mindtorch, beside numbers that PyTorch gave from the same seed."""

import json
import multiprocessing
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
if "mindtorch" not in torch.__version__:
    pytest.skip("torch is PyTorch here: see `nox -s programs`", allow_module_level=True)
for name in ("transformers", "accelerate", "peft", "lightning", "kornia", "torch_geometric"):
    pytest.importorskip(name)

import variants

RECORDED = json.loads((Path(__file__).parent / "variants.json").read_text("utf-8"))["cases"]
ROUGH = {
    "trainer_bf16",
    "lightning_mixed",
    "trainer_adafactor",
}  # bfloat16, and roots of small numbers
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", variants.CASES)
def test_a_way(name):
    found = variants.CASES[name]()
    assert found == pytest.approx(RECORDED[name], rel=5e-3 if name in ROUGH else 1e-4)
    assert multiprocessing.active_children() == []
