"""The page of `mindtorch trace`: what it tells is what the script did, whatever the script's names are."""

import json
import os
import subprocess
import sys
from html.parser import HTMLParser

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """\
import mindtorch_core as torch

x = torch.ones(512, 512)
kept = [x + i for i in range(3)]
del kept
with torch.profiler.record_function("named"):
    y = x.requires_grad_() * 2
    y.sum().backward()
with torch.pipeline():
    z = x.detach().exp() * 2 + 1
    if z.sum().item() > 0:
        z = z.relu()
print("done", flush=True)
"""


def trace(folder, *arguments, script=SCRIPT, name="train.py", **env):
    (folder / name).write_text(script)
    return subprocess.run(
        [sys.executable, "-m", "mindtorch_core", "trace", *arguments, name],
        cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    done = trace(tmp_path_factory.mktemp("trace"), "--json")
    assert done.returncode == 0, done.stderr
    assert "done\n" in done.stderr  # what the script prints is not among the JSON
    return json.loads(done.stdout)


def of_line(rows, line):
    return [row for row in rows if row["line"] == f"train.py:{line}"]


def test_ops_have_the_line_that_called_them_backward_too(facts):
    assert {op["name"] for op in of_line(facts["ops"], 4)} == {"add"}
    assert {op["name"] for op in of_line(facts["ops"], 7)} == {"mul"}
    assert {"ones_like", "mul"} & {op["name"] for op in of_line(facts["ops"], 8)}
    assert facts["sources"]["train.py:8"] == "y.sum().backward()"
    (named,) = [op for op in facts["ops"] if not op["op"]]
    assert named["name"] == "named"
    inside = [
        op for op in facts["ops"] if named["start"] <= op["start"] <= named["start"] + named["us"]
    ]
    assert all(op["depth"] >= 1 for op in inside if op is not named)


def test_nothing_lasts_longer_than_the_clock_ran(facts):
    rows = [row for part in ("ops", "flushes", "tasks") for row in facts[part] if row["us"]]
    last = max(row["start"] for row in rows)
    assert rows
    assert all(0 < row["us"] < last + 300e6 for row in rows)


def test_memory_rises_and_falls_with_the_tensors(facts):
    memory = facts["memory"]["cpu"]
    one = 512 * 512 * 4
    assert memory["peak"] >= 4 * one
    heights = [held for _, held in memory["points"]]
    assert max(heights) == memory["peak"]
    four = heights.index(4 * one)
    assert one in heights[four:]  # the list is gone
    assert [at for at, _ in memory["points"]] == sorted(at for at, _ in memory["points"])


def test_flushes_tell_why_and_where_the_script_broke_its_block(facts):
    look, end = facts["flushes"]
    assert (look["reason"], look["kind"], look["line"]) == ("item()", "look", "train.py:11")
    assert (end["reason"], end["kind"], end["line"]) == ("end of block", "end", "train.py:9")
    assert facts["sources"]["train.py:11"] == "if z.sum().item() > 0:"
    (launch,) = [each for each in look["launches"] if each["group"] is not None]
    assert launch["name"] == "exp, mul, add, sum"
    (pipeline,) = facts["pipelines"]
    assert (pipeline["ops"], pipeline["flushes"], pipeline["pending"]) == (6, 2, 0)
    assert pipeline["blocks"][0]["line"] == "train.py:9"


def test_a_run_that_fails_is_shown_as_far_as_it_came(tmp_path):
    done = trace(tmp_path, "--json", script=SCRIPT + "raise SystemExit(3)\n")
    assert done.returncode == 3
    assert json.loads(done.stdout)["status"] == 3
    assert len(json.loads(done.stdout)["flushes"]) == 2


class Page(HTMLParser):
    """The elements of a page, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.scripts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.scripts.append(data)


HOSTILE = "</script><img src=x onerror=alert(1)><!--<script>&quot;'"


@pytest.mark.parametrize("name", ["<b onclick=alert(2)>.py", "a'b\"&amp;<svg onload=alert(3)>.py"])
def test_hostile_names_stay_text(name, tmp_path):
    script = f"""\
import mindtorch_core as torch
with torch.profiler.record_function({HOSTILE!r}):
    x = torch.ones(2) + 1
lib = torch.library.Library("hostile", "DEF")
lib.define("op(Tensor x, str how) -> Tensor")
lib.impl("op", lambda x, how: x.clone(), "CPU")
with torch.pipeline():
    y = torch.ops.hostile.op(x * 3, {HOSTILE!r}); print(y.sum().item())  # {HOSTILE}
"""
    done = trace(tmp_path, "--page", "page.html", "--json", script=script, name=name)
    assert done.returncode == 0, done.stderr
    page = Page((tmp_path / "page.html").read_text("utf-8"))
    assert page.tags.count("script") == 2
    assert not {"img", "b", "link", "iframe", "object"} & set(page.tags)
    assert not [a for a in page.attributes if a[1].startswith("on") or a[1] in ("src", "href")]
    told = json.loads(page.scripts[0])
    assert HOSTILE in {op["name"] for op in told["ops"]}
    assert told["script"] == name
    printed = json.loads(done.stdout)
    assert told["flushes"] == printed["flushes"]


def test_the_page_draws_each_graph_once_with_styles_of_its_own(tmp_path):
    script = """\
import mindtorch_core as torch
x = torch.ones(4)
for i in range(3):
    with torch.pipeline():
        y = x.exp() + 1
with torch.pipeline():
    y = x.sin()
"""
    trace(tmp_path, script=script)
    text = (tmp_path / "trace.html").read_text("utf-8")
    page = Page(text)
    assert page.tags.count("svg") == 2
    assert "pipelines 1, 2, 3, which are alike: 2 ops, 1 flush" in text
    assert "pipeline 4: 1 op, 1 flush" in text
    marks = [value for tag, key, value in page.attributes if (tag, key) == ("marker", "id")]
    assert marks == ["mt-arrow-1", "mt-arrow-2"]


@pytest.mark.parametrize(
    ("options", "opened"), [(["--open"], True), (["--no-open"], False), ([], False)]
)
def test_the_page_is_opened_where_that_is_wanted(options, opened, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{tmp_path}/address"\n')
    browser.chmod(0o755)
    done = trace(tmp_path, *options, BROWSER=f"{browser} %s", DISPLAY=":0")
    assert done.returncode == 0, done.stderr
    address = tmp_path / "address"
    assert address.exists() is opened
    if opened:
        assert address.read_text() == (tmp_path / "trace.html").as_uri()


def test_a_browser_that_is_not_there_is_said(tmp_path):
    done = trace(tmp_path, "--open", BROWSER="/nowhere/browser %s", PATH=str(tmp_path))
    assert done.returncode == 0
    assert f"found no browser; the page is {tmp_path / 'trace.html'}" in done.stderr
