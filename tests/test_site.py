"""What the site makes from the code at build time; the build itself is `nox -s site`."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.inspection import explain

ROOT = Path(__file__).parents[1]


@pytest.fixture
def made(monkeypatch):
    """A module of ``docs/site/`` by name, as MkDocs's hook imports it."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))

    def module(name):
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    yield module
    for name in ("charts", "functions"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def data():
    """What the picture shows, from a process in which no test has loaded a backend of its own."""
    done = subprocess.run(
        [sys.executable, "-c", "import json, kernels_of_calls as k; print(json.dumps(k.data()))"],
        cwd=ROOT / "docs" / "site", capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_picture_says_what_the_dispatcher_says(data):
    assert {"cpu", "meta", "a new backend, without kernels"} <= set(data["devices"])
    names = list(data["circumstances"])
    assert len(data["ops"]) >= 12

    def shown(op, device, *chosen):
        found = data["calls"][op][device][sum(1 << names.index(name) for name in chosen)]
        if isinstance(found, str):
            return found
        numbers = found["rows"] if isinstance(found, dict) else found
        return [(data["rows"][n]["key"], data["rows"][n]["outcome"]) for n in numbers]

    def said(op, device, **options):
        return [(row.key_name, row.outcome) for row in explain(op, device=device, **options).rows]

    for op in data["ops"]:
        for device in ("cpu", "meta"):
            assert shown(op, device) == said(op, device)
            for name in ("requires_grad", "inference", "pipeline", "modes"):
                assert shown(op, device, name) == said(op, device, **{name: True})
        both = shown(op, "cpu", "requires_grad", "autocast")
        assert both == said(op, "cpu", requires_grad=True, autocast=True)
        with torch.no_grad():
            expected = said(op, "cpu", requires_grad=True)
        assert shown(op, "cpu", "requires_grad", "no_grad") == expected
    assert "autocast does not serve" in shown("add", "meta", "autocast")


def test_the_picture_names_no_path_of_the_machine_that_built_it(data):
    sources = {row["source"] for row in data["rows"]}
    assert len(sources) > 10
    assert all(re.fullmatch(r"|mindtorch_\w+/[\w/]+\.py:\d+", source) for source in sources), (
        sources
    )


def test_a_new_backend_lacks_primitives_only(data):
    calls = data["calls"]
    device = "a new backend, without kernels"
    assert "error" in calls["add"][device][0]
    assert isinstance(calls["softmax"][device][0], list)


def test_every_public_function_with_a_text_is_on_its_page(made):
    pages = made("functions").pages()
    for name in ("add", "matmul", "einsum", "sum", "save", "no_grad"):
        present = f"{{ #torch.{name} .entry }}" in pages["api/torch.md"]
        assert present is not isinstance(getattr(torch, name), type), name
    assert "matmul(input, other, *, out=None) -> Tensor" in pages["api/torch.md"]
    assert "{ #Tensor.backward .entry }" in pages["api/tensor.md"]
    assert "{ #F.cross_entropy .entry }" in pages["api/functional.md"]
    for path, text in pages.items():
        assert text.count("```") % 2 == 0, path
        anchors = re.findall(r"\{ #(\S+) \.entry \}", text)
        assert len(anchors) == len(set(anchors)) > 20, path


def test_sections_of_a_text_become_lists(made):
    text = "f(x) -> Tensor\n\nOne line.\n\n    Args:\n        x: ``a``, <b>\n            more.\n\n    Raises:\n        TypeError: if not."
    entry = made("functions")._entry("torch.f", text)
    assert "**Args**\n\n- `x`: `a`, <b>" in entry
    assert "- `TypeError`: if not." in entry
    assert entry.startswith("## torch.f { #torch.f .entry }\n\n```python\nf(x) -> Tensor\n```\n")


def test_bars_stand_on_their_side_of_the_line(made):
    charts = made("charts")
    text = charts.bars({"a < b": 0.5, "same": 1.0, "slow": 4.0})
    bars = re.findall(r'class="(faster|slower)" style="left:([\d.]+)%;width:([\d.]+)%"', text)
    (one,) = set(re.findall(r'class="one" style="left:([\d.]+)%"', text))
    assert [kind for kind, *_ in bars] == ["faster", "faster", "slower"]
    (start, width), _, (slow, _) = [(float(a), float(b)) for _, a, b in bars]
    assert start == 0
    assert abs(start + width - float(one)) < 0.2
    assert slow == float(one)
    assert "a &lt; b" in text


def test_every_page_has_a_place_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    named = set(re.findall(r"^      - (?:.*: )?(\S+\.md)$", navigation, re.M))
    pages = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert pages <= named, f"mkdocs.yml does not name {pages - named}"


def test_the_page_of_benchmarks_has_every_committed_result(made):
    text = made("charts").page(ROOT / "benchmarks" / "results")
    for path in (ROOT / "benchmarks" / "results").glob("*.json"):
        found = json.loads(path.read_text("utf-8"))
        for group, cases in found.get("groups", {}).items():
            assert f"### {group}\n" in text
            compared = [case for case, row in cases.items() if "torch" in row["ratio"]]
            assert all(f"<span>{case}</span>" in text for case in compared), path
        assert all(f"| {case} |" in text for case in found.get("cases", {}))


def test_the_page_of_benchmarks_shows_every_way_of_a_step(made, tmp_path):
    for path in (ROOT / "benchmarks" / "results").glob("*.json"):
        shutil.copy(path, tmp_path)
    ways = {"captured": 0.5, "torch": 1.0}
    keys = ("seconds", "ratio", "first_call_seconds", "warming_seconds")
    row = {**dict.fromkeys(keys, ways), "peak_bytes": {"torch": 2e6}}
    (tmp_path / "ways.json").write_text(json.dumps({"cases": {"gpt, 1 thread": row}}), "utf-8")
    text = made("charts").page(tmp_path)
    assert "| gpt, 1 thread |  |  | 500 | 1e+03 |  |  |" in text
    assert "| gpt, 1 thread |  |  |  | 2 |  |  |" in text
