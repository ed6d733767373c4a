"""What notebooks show: well-formed HTML, with every text escaped, and nothing else than the text says."""

import subprocess
import sys
from html.parser import HTMLParser

import pytest

import mindtorch_core as torch
from mindtorch_core import inspection, nn

EVIL = "</pre><script>alert(1)</script>&amp;"


class Page(HTMLParser):
    """Reads HTML strictly: each tag is closed by its own, and only known ones occur."""

    KNOWN = frozenset(
        [
            "code",
            "details",
            "div",
            "li",
            "p",
            "pre",
            "small",
            "summary",
            "table",
            "tbody",
            "td",
            "th",
            "thead",
            "tr",
            "ul",
        ]
    )

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.opened, self.tags, self.text = [], [], ""
        self.strong = ""
        self.feed(text)
        self.close()
        assert not self.opened

    def handle_starttag(self, tag, attrs):
        assert tag in self.KNOWN
        assert {name for name, _ in attrs} <= {"style", "open"}
        self.opened.append((tag, dict(attrs)))
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop()[0] == tag

    def handle_data(self, data):
        self.text += data
        if any("bold" in (attrs.get("style") or "") for _, attrs in self.opened):
            self.strong += data


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(6.0).reshape(2, 3),
        lambda: torch.tensor(1.5, requires_grad=True),
        lambda: torch.ones(2, device="meta"),
        lambda: torch.empty(0, dtype=torch.int64),
        lambda: nn.Parameter(torch.ones(2)),
        lambda: torch.ones(2000),
    ],
)
def test_a_tensor(make):
    t = make()
    page = Page(t._repr_html_())
    assert repr(t) in page.text
    head = page.text.removesuffix(repr(t))
    assert head.startswith(f"{type(t).__name__} {list(t.shape)}, {t.dtype}, {t.device}")
    assert head.endswith(", requires grad") is t.requires_grad


def test_a_tensor_of_a_pipeline_is_computed():
    with torch.pipeline():
        x = torch.ones(2) + 1
        assert "tensor([2., 2.])" in Page(x._repr_html_()).text


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module(EVIL.replace(".", ""), nn.Linear(2, 3))
        self.block = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.block[0].weight.requires_grad_(False)

    def extra_repr(self):
        return EVIL


def test_a_module_is_a_tree_of_its_parts():
    module = Odd()
    page = Page(module._repr_html_())
    assert page.text.count(EVIL) == 2
    for part in (
        "Linear(in_features=2, out_features=3, bias=True)",
        "ReLU()",
        "(block) Sequential()",
    ):
        assert part in page.text
    total = sum(p.numel() for p in module.parameters())
    assert f"{total} parameters, 12 of them frozen" in page.text
    assert page.tags.count("details") == 2
    assert page.tags.count("li") == len(list(module.modules())) - 1


def test_many_parameters_are_readable():
    assert "1,001,000 parameters" in Page(nn.Linear(1000, 1000)._repr_html_()).text


def test_a_lazy_module_has_no_numbers_yet():
    page = Page(nn.Sequential(nn.LazyLinear(3))._repr_html_())
    assert "parameters of unknown shape" in page.text


def test_a_module_without_parameters():
    assert "parameters" not in Page(nn.ReLU()._repr_html_()).text


def test_an_explanation_marks_what_is_chosen():
    found = inspection.explain("add", requires_grad=True)
    page = Page(found._repr_html_())
    for row in found.rows:
        assert row.key_name in page.text
        assert row.why in page.text
    assert found.chosen.key_name in page.strong
    assert page.strong.count(found.chosen.why) == 1


def test_an_explanation_of_a_call_that_fails():
    page = Page(inspection.explain("exp", device="CUDA")._repr_html_())
    assert "The call raises:Could not run 'aten::exp'" in page.text
    assert page.strong == ""


def test_a_function_and_a_backend():
    found = inspection.find_function("F.cross_entropy")
    page = Page(found._repr_html_())
    assert "aten::cross_entropy_loss" in page.text
    assert "aten::log_softmax" in page.text
    covered = inspection.coverage("meta")
    page = Page(covered._repr_html_())
    assert f"Ops on meta: {len(covered.ops)}" in page.text
    assert page.tags.count("tr") == len(covered.ops) + len(covered.totals) + 2


def test_a_pipeline_is_its_counts_and_launches_nothing():
    with torch.pipeline() as pipe:
        x = torch.ones(2) + 1
        page = Page(pipe._repr_html_())
        assert repr(pipe) in page.text
        assert "recorded2pending2" in page.text
        assert x._pending
    page = Page(pipe._repr_html_())
    assert "launched2" in page.text
    assert "flush reason: end of block1" in page.text


def test_the_graph_of_a_pipeline_is_a_picture():
    with torch.pipeline(trace=True) as pipe:
        torch.ones(2) + 1
    assert pipe.graph._repr_svg_().startswith("<svg")


def test_nothing_of_it_is_imported_before_a_notebook_asks():
    code = (
        "import sys, mindtorch_core as torch\n"
        "from mindtorch_core import nn\n"
        "repr(nn.Linear(2, 2)(torch.ones(2)))\n"
        "print([m for m in sys.modules if m.endswith('markup')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
