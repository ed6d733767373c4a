"""Models of transformers on mindtorch, beside numbers that PyTorch gave from the same seed."""

import importlib
import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
if "mindtorch" not in torch.__version__:
    pytest.skip("torch is PyTorch here: see `nox -s programs`", allow_module_level=True)
pytest.importorskip("transformers")

import tiny_models

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text("utf-8"))
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", tiny_models.MODELS)
def test_a_model(name):
    found, wanted = tiny_models.played(name), RECORDED["models"][name]
    assert found["numbers"] == pytest.approx(wanted["numbers"], rel=5e-6)
    assert found["tokens"] == wanted["tokens"]


def test_all_model_files_import():
    """But those that need another package, which they name."""
    root = Path(importlib.import_module("transformers.models").__path__[0])
    failed = {}
    files = sorted(root.glob("*/modeling_*.py"))
    for file in files:
        try:
            importlib.import_module(f"transformers.models.{file.parent.name}.{file.stem}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] == "torch":
                failed[file.stem] = error
        except Exception as error:  # noqa: BLE001 (a module may raise anything)
            failed[file.stem] = error
    assert len(files) > 500
    assert not failed
