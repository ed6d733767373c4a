"""`mindtorch predict-scaling` with real ranks."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

# So slow that no step computes while a message is under way to its end, however busy the machine is.
NETWORK = """
name = "one level"
[[level]]
name = "all"
latency_us = 500_000
bandwidth_gbit = 10
"""


@pytest.fixture
def predict(ranks, minute, tmp_path):
    """``predict(script, *arguments, more=options)`` runs the command, where ``ranks`` can be run; it ends in a minute."""
    network = tmp_path / "net.toml"
    network.write_text(NETWORK, "utf-8")

    def run(*script, more=()):
        command = [sys.executable, "-m", "mindtorch_core", "predict-scaling", "--network", network]
        return subprocess.run(
            [*command, "--ranks", "6", "--measure", "1,2", *more, *script],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=minute(), check=False,
        )  # fmt: skip

    return run


def test_a_run_on_two_ranks_becomes_a_prediction(predict, programs, tmp_path):
    plot = tmp_path / "efficiency.svg"
    done = predict(programs / "tiny_training.py", more=["--json", "--plot", plot])
    assert done.returncode == 0, done.stderr
    # By one, two, two that do not work together, one of six, and maybe one of two and of four; standard
    # output is the answer's.
    assert done.stderr.count("trained") in (6, 8)
    found = json.loads(done.stdout)
    assert set(found) == {
        "script", "network", "note", "step", "spread", "overlap", "cores", "checks", "predictions",
    }  # fmt: skip
    assert "not measurements" in found["note"]
    # A perceptron of 64, 64 and 4: its gradients are float32.
    gradients = 4 * (64 * 64 + 64 + 64 * 4 + 4)
    assert gradients <= found["step"]["bytes"] < gradients + 1000
    assert 0 < found["step"]["compute_s"] <= found["step"]["seconds"]
    assert 0 <= found["step"]["lost_s"] <= found["step"]["seconds"]
    (check,) = found["checks"]
    assert check["ranks"] == 2
    assert check["error"] == pytest.approx(check["predicted_s"] / check["measured_s"] - 1)
    assert [p["ranks"] for p in found["predictions"]] == [1, 2, 4, 6]
    assert found["predictions"][0]["efficiency"] == 1
    assert all(p["waiting"] > 0 for p in found["predictions"][1:])
    ET.fromstring(plot.read_text("utf-8"))


def test_a_batch_that_is_cut_among_ranks(predict, programs):
    done = predict(programs / "cut_batch.py", "4", more=["--json"])
    assert done.returncode == 0, done.stderr
    assert "predictions end before 6 ranks" in done.stderr
    points = json.loads(done.stdout)["predictions"]
    assert [p["ranks"] for p in points] == [1, 2, 4]
    # A rank of four has a row in four: it computes less, and sends as much.
    assert points[2]["compute"] < 0.8 * points[0]["compute"]
    assert points[2]["speedup"] > points[2]["efficiency"]


def test_a_script_that_fails_gives_its_status(predict, tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("import sys\nsys.exit(7)\n", "utf-8")
    done = predict(script)
    assert done.returncode == 7
    assert done.stdout == ""


def test_a_script_without_steps_is_told(predict, tmp_path):
    script = tmp_path / "idle.py"
    script.write_text("import torch\n", "utf-8")
    done = predict(script)
    assert done.returncode == 2
    assert "has taken 0 optimizer steps: a prediction wants 5 or more" in done.stderr
    assert "Traceback" not in done.stderr
