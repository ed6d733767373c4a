"""`mindtorch trace`: a script's pipelines, seen from outside."""

import gzip
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest

SCRIPT = """\
import sys, warnings
import helper
import mindtorch_core as torch

print(__name__, sys.argv)
warnings.warn("careful")
x = torch.ones(512, 512)
for i in range(2):
    with torch.pipeline():
        y = (x * 2 + i).relu().sum()
    print(y.item())
with torch.pipeline() as pipe:
    helper.more(torch)
"""


def trace(folder, *arguments, script=SCRIPT, **env):
    (folder / "train.py").write_text(script)
    (folder / "helper.py").write_text("def more(torch):\n    return torch.ones(3).sin().tolist()\n")
    return subprocess.run(
        [sys.executable, "-m", "mindtorch_core", "trace", *arguments],
        cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


def events(path):
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_text("utf-8")
    return json.loads(text)["traceEvents"]


def test_it_runs_the_script_and_traces_every_pipeline(tmp_path):
    done = trace(tmp_path, "--out", "run.json", "--graph", "run.svg", "train.py", "--out", "-h")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "__main__ ['train.py', '--out', '-h']\n524288.0\n786432.0\n"
    lines = done.stderr.splitlines()
    assert lines[0] == "train.py:6: UserWarning: careful"
    assert lines[-2].endswith("run.json: 3 pipelines, 3 flushes, 10 ops, 2 fused groups")
    assert lines[-1].endswith("run.svg: 10 ops")
    found = events(tmp_path / "run.json")
    assert [e["name"] for e in found if e["ph"] == "b" and e["name"] != "record"] == [
        "pipeline 1", "pipeline 2", "pipeline 3"
    ]  # fmt: skip
    assert [e["name"] for e in found if e.get("cat") == "fused"] == [
        "fused: mul, add, relu, sum"
    ] * 2
    reasons = [e["args"]["reason"] for e in found if e["name"].startswith("flush")]
    assert reasons == ["end of block", "end of block", "tolist()"]
    picture = (tmp_path / "run.svg").read_text("utf-8")
    ElementTree.fromstring(picture)
    assert "pipeline 3, flush 3, tolist()" in picture
    assert "helper.py:2" in picture


def test_results_of_one_pipeline_are_inputs_of_another(tmp_path):
    script = """\
import mindtorch_core as torch
with torch.pipeline():
    x = torch.ones(2) + 1
with torch.pipeline() as pipe:
    y = x * 3
    assert len(pipe.graph) == 1 and len(pipe.graph.inputs) == 1
"""
    done = trace(tmp_path, "--graph", "run.dot", "train.py", script=script)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "run.dot").read_text("utf-8")
    assert "op1 -> op2;" in text
    assert "in1" not in text
    assert (tmp_path / "trace.json").exists()


def test_a_large_graph_is_cut(tmp_path):
    done = trace(tmp_path, "--graph", "run.dot", "--graph-ops", "3", "train.py")
    assert done.stderr.endswith("run.dot: 3 of 10 ops\n")


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('no data')", 1, "no data\n"),
        ("raise KeyError('w')", 1, 'File "train.py", line 14, in <module>\n'),
        ("1 +", 1, "SyntaxError"),
        ("torch.nowhere", 1, "AttributeError"),
    ],
)
def test_however_the_script_ends_the_trace_is_written(end, status, said, tmp_path):
    done = trace(tmp_path, "--out", "run.json.gz", "train.py", script=SCRIPT + end + "\n")
    assert done.returncode == status
    assert said in done.stderr
    assert "runpy" not in done.stderr
    assert len(events(tmp_path / "run.json.gz")) > 10 or end == "1 +"


def test_a_script_without_pipelines(tmp_path):
    done = trace(tmp_path, "train.py", script="import mindtorch_core as torch\n")
    assert done.returncode == 0
    assert "the script opened no torch.pipeline()" in done.stderr
    assert [e["ph"] for e in events(tmp_path / "trace.json")] == ["M"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.py"], "there is no file 'nowhere.py'"),
        (["--out", "no/such.json", "train.py"], "cannot write 'no/such.json': there is no folder"),
        (["--graph", "run.bmp", "train.py"], "the name must end in .svg, .png, .pdf, .dot or .gv"),
        (["--graph", "run.png", "train.py"], "needs Graphviz's program 'dot'"),
        (["--graph", "g.svg", "--graph-ops", "0", "train.py"], "--graph-ops must be at least 1"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_script_runs(arguments, said, tmp_path):
    done = trace(tmp_path, *arguments, PATH=str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("mindtorch trace: ")
    assert said in line
