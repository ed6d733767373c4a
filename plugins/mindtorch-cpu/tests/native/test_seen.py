"""What was compiled is seen: in a pipeline's stats, in traces and in profiles."""

import json

import pytest

import mindtorch_core as torch
from mindtorch_core.cli import main
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS
from mindtorch_cpu.native.kernels import KERNELS

SCRIPT = """
import mindtorch_core as torch
x = torch.arange(5000.0)
with torch.pipeline():
    y = (x * 3).sin() + 1
    z = x.sort()[0] * 2
    w = (z + y).cumsum(0)
"""


@pytest.fixture
def small(monkeypatch):
    """Groups of any size are planned, and compiled at once."""
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", "")
    monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 1)
    monkeypatch.setattr(LIMITS, "min_elements", 1)


def test_stats_say_which_kernels_ran_and_what_they_took(small):
    x = torch.arange(5000.0)
    with torch.pipeline() as pipe:
        for _ in range(2):
            y = (x * 3).sin() + 1
            y.sum().item()
    (name,) = [n for n in pipe.stats()["kernels"] if n.startswith("multiply_sin_add")]
    about = pipe.stats()["kernels"][name]
    assert about["launches"] == 2
    assert about["operations"] == 3
    assert 0 < about["seconds"] < 60
    assert about["source"] in ("compiled", "disk")
    with torch.pipeline() as pipe:
        made = torch.remainder((x.long() * 3) + 1, 7)
    assert torch.equal(made, torch.remainder(x.long() * 3 + 1, 7))
    KERNELS.mode = "off"
    with torch.pipeline() as pipe:
        (x * 3).sin() + 1 + y
    assert pipe.stats()["kernels"] == {}
    assert [n for n in pipe.stats()["group_notes"] if "switched off" in n] or not pipe.stats()[
        "fused_groups"
    ]


def test_profiles_name_kernels_and_what_compiling_them_took(small):
    KERNELS._kernels.clear()
    x = torch.arange(5000.0)
    with torch.profiler.profile() as profile, torch.pipeline():
        made = (x * 3).cos() + 1
    assert made.shape == (5000,)
    names = {event.name: event for event in profile.events()}
    assert [
        n for n in names if n.startswith("launch fused(mul, cos, add): compiled: multiply_cos_add_")
    ]
    (compiling,) = [n for n in names if n.startswith("compile kernel multiply_cos_add_")]
    assert names[compiling].cpu_time_total > 0


def test_traces_name_kernels_and_say_why_groups_stay_in_tiles(small, tmp_path, capsys, monkeypatch):
    KERNELS._kernels.clear()
    monkeypatch.chdir(tmp_path)  # the page is written there
    script, out = tmp_path / "script.py", tmp_path / "trace.json"
    script.write_text(SCRIPT)
    assert main(["trace", "--out", str(out), str(script)]) == 0
    assert "compile kernel multiply_sin_add_" in capsys.readouterr().err
    events = json.loads(out.read_text())["traceEvents"]
    how = [e["args"]["computed"] for e in events if e.get("cat") == "fused"]
    assert any(text.startswith("compiled: multiply_sin_add_") for text in how)
    assert [e for e in events if e["name"].startswith("compile kernel") and e["dur"] > 0]
    KERNELS.mode = "off"
    assert main(["trace", "--out", str(out), str(script)]) == 0
    events = json.loads(out.read_text())["traceEvents"]
    how = [e["args"]["computed"] for e in events if e.get("cat") == "fused"]
    assert set(how) == {"in tiles: switched off by MINDTORCH_NATIVE"}
