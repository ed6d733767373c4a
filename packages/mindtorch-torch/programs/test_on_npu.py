"""Models of transformers on the simulated NPU, which the program takes for a GPU: `nox -s programs-npu`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

simulator = pytest.importorskip("mindtorch_npu_simulator")
pytest.importorskip("transformers")

MODELS = [
    "GPT2LMHeadModel", "LlamaForCausalLM", "MambaForCausalLM", "MixtralForCausalLM", "BertForMaskedLM",
    "T5ForConditionalGeneration", "ViTForImageClassification", "ResNetForImageClassification",
    "WhisperForConditionalGeneration",
]  # fmt: skip


def test_the_npu_agrees_with_the_cpu():
    script = Path(__file__).parent / "on_device.py"
    command = [sys.executable, "-m", "mindtorch_core", "run", "--device", "npu", "--as-cuda"]
    env = {**os.environ, "ASCEND_TOOLKIT_HOME": str(simulator.toolkit_root())}
    done = subprocess.run(
        [*command, str(script), *MODELS], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["device"] == "npu"
    for name in MODELS:
        there, here = found["models"][name]
        assert there == pytest.approx(here, rel=1e-4), name
