"""Explanations, functions and coverage as text and as HTML, from data made by hand: each line of them."""

import os
import sys

import pytest

from mindtorch_core.dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_core.inspection import text
from mindtorch_core.inspection.explanation import Explanation, KernelInfo, Row
from mindtorch_core.inspection.functions import FunctionInfo
from mindtorch_core.inspection.support import Coverage, OpSupport

K = DispatchKey
NOTHING = DispatchKeySet.from_mask(0)
OWN = KernelInfo("mul", "/somewhere/mul.py:3", "acme 1.0", K.CPU)
OTHER = KernelInfo("rule", "/somewhere/rule.py:4", "", K.CompositeExplicitAutograd)


def explained(*rows, **more):
    given = {
        "op": "aten::mul", "schema": "mul(Tensor a) -> Tensor", "overloads": (), "siblings": (),
        "keys": DispatchKeySet.from_mask(K.CPU), "added": NOTHING, "excluded": NOTHING,
    }  # fmt: skip
    return Explanation(**{**given, "rows": rows, **more})


ROWS = [
    (Row(K.CPU, "chosen", "direct", "it has one", OWN),
     ["  CPU  CHOSEN  mul of acme 1.0", "               /somewhere/mul.py:3", "               it has one"]),
    (Row(K.CPU, "chosen", "explicit", "it is made of others", OTHER),
     ["  CPU  CHOSEN  rule", "               /somewhere/rule.py:4",
      "               registered at CompositeExplicitAutograd", "               it is made of others"]),
    (Row(None, "missing", "missing", "there is none", notes=("a note", "one more")),
     ["  Undefined  MISSING  there is none", "                      a note", "                      one more"]),
    (Row(K.AutogradCPU, "chosen", "wrapper", "records", calls=DispatchKeySet.from_mask(K.CPU | K.Meta)),
     ["  AutogradCPU  CHOSEN  records", "                       calls what is below: Meta, CPU"]),
    (Row(K.AutogradCPU, "called", "wrapper", "records", calls=DispatchKeySet.from_mask(K.CPU)),
     ["  AutogradCPU  then  records", "                     calls what is below: CPU"]),
    (Row(K.AutogradCPU, "next", "wrapper", "records", calls=DispatchKeySet.from_mask(K.CPU)),
     ["  AutogradCPU  may follow  records", "                           would call what is below: CPU"]),
    (Row(K.CPU, "chosen", "direct", "it has one", None, shadowed=(OWN, OTHER)),
     ["  CPU  CHOSEN  it has one", "               hides mul of acme 1.0",
      "                     /somewhere/mul.py:3", "               hides rule",
      "                     /somewhere/rule.py:4"]),
]  # fmt: skip


@pytest.mark.parametrize(("row", "lines"), ROWS)
def test_a_row_of_an_explanation(row, lines):
    whole = str(explained(row)).splitlines()
    assert whole[:4] == ["aten::mul(Tensor a) -> Tensor", "", "keys: CPU", ""]
    assert whole[4:] == lines


def test_rows_are_aligned_below_each_other():
    rows = (
        Row(K.AutogradCPU, "skipped", "", "no gradient"),
        Row(K.CPU, "next", "", "may be"),
    )
    assert str(explained(*rows)).splitlines()[4:] == [
        "  AutogradCPU  skipped     no gradient",
        "  CPU          may follow  may be",
    ]


def test_what_stands_above_and_below_the_rows():
    keys = DispatchKeySet.from_mask(K.CPU | K.Pipeline)
    found = explained(
        overloads=("Tensor", "Scalar"), siblings=("aten::mul_",), notes=("first", "second"), keys=keys,
        added=DispatchKeySet.from_mask(K.Pipeline), error="Could not run:\n    because\n  of it",
    )  # fmt: skip
    assert str(found).splitlines() == [
        "aten::mul(Tensor a) -> Tensor",
        "  stands for mul.Tensor, mul.Scalar",
        "  see also aten::mul_",
        "  first",
        "  second",
        "",
        "keys: Pipeline, CPU",
        "of them from the thread's masks: Pipeline",
        "",
        "",
        "The call raises:",
        "  Could not run:",
        "      because",
        "    of it",
    ]


@pytest.mark.parametrize(
    ("schema", "head"),
    [
        ("", "acme::op.two"), ("acme::op.two(Tensor a) -> Tensor", "acme::op.two(Tensor a) -> Tensor"),
        ("op.two(Tensor a) -> Tensor", "acme::op.two(Tensor a) -> Tensor"),
    ],
)  # fmt: skip
def test_the_head_is_the_schema_in_its_namespace(schema, head):
    lines = str(
        explained(op="acme::op.two", schema=schema, overloads=("x",), keys=NOTHING)
    ).splitlines()
    assert lines == [head, "  stands for op.x", "", "keys: none"]


def test_a_function_with_and_without_ops():
    made = (("aten::a", ("aten::b", "aten::c")),)
    found = FunctionInfo("F.f", "(x)", "/somewhere/f.py:1", ("aten::a", "aten::b"), made)
    assert str(found).splitlines() == [
        "F.f(x)",
        "  a function in Python, at /somewhere/f.py:1",
        "",
        "calls: aten::a, aten::b",
        "  aten::a may be made of: aten::b, aten::c",
        "",
        "'mindtorch explain aten::a' shows which kernels that runs.",
    ]
    none = FunctionInfo("F.g", "()", "/somewhere/f.py:2", (), ())
    assert str(none).splitlines()[2:] == ["", "calls: ops that it chooses by name when it runs"]
    cell = "text-align:left;vertical-align:top"
    assert none._repr_html_() == (
        "<div><code>F.g()</code><p>a function in Python, at /somewhere/f.py:2</p></div>"
    )
    assert f'<td style="{cell}">aten::a</td><td style="{cell}">aten::b, aten::c</td>' in (
        found._repr_html_()
    )
    assert f'<td style="{cell}">aten::b</td><td style="{cell}"></td>' in found._repr_html_()


def served(op, how="kernel", primitive=False, kernel=OWN):
    return OpSupport(op, f"{op}()", how, primitive, kernel)


def test_what_a_backend_serves():
    ops = (served("a", primitive=True), served("b", "decomposition", kernel=OTHER),
           served("c", "missing", True, None))  # fmt: skip
    assert str(Coverage(K.CPU, "cpu", "acme 1.0", ops)).splitlines() == [
        "Ops on cpu (key CPU, supplied by acme 1.0): 3",
        "",
        "  kernel            1",
        "  decomposition     1",
        "  missing           1",
        "",
        "Of the 2 primitives, which a backend has to supply, 1 is missing.",
        "",
        "op  served by      where",
        "a   kernel *       /somewhere/mul.py:3",
        "b   decomposition  /somewhere/rule.py:4",
        "c   missing *",
        "",
        "* a primitive",
    ]
    assert str(Coverage(K.Meta, "meta", "", ops[1:2])).splitlines() == [
        "Ops on meta (key Meta): 1",
        "",
        "  decomposition     1",
        "  missing           0",
        "",
        "Of the 0 primitives, which a backend has to supply, none is missing.",
        "",
        "op  served by      where",
        "b   decomposition  /somewhere/rule.py:4",
    ]
    lacking = (*ops, served("d", "missing", True, None))
    assert "Of the 3 primitives, which a backend has to supply, 2 are missing." in str(
        Coverage(K.CPU, "cpu", "", lacking)
    )
    assert str(Coverage(K.XPU, "", "", ())).splitlines()[0] == "Ops on the key XPU: 0"
    assert len(str(Coverage(K.XPU, "", "", ())).splitlines()) == 5


def cells(html):
    """The texts of a table's cells, row by row."""
    rows = html.partition("<tbody>")[2].partition("</tbody>")[0].split("<tr>")[1:]
    return [[c.partition(">")[2].partition("<")[0] for c in r.split("<td")[1:]] for r in rows]


def test_notebooks_show_the_same():
    found = explained(
        Row(K.AutogradCPU, "skipped", "", "none"), Row(K.CPU, "chosen", "direct", "it has one", OWN),
        notes=("a <note>", "another"), error="it <fails>",
    )  # fmt: skip
    shown = found._repr_html_()
    assert shown.startswith(
        "<div><code>mul(Tensor a) -&gt; Tensor</code><p>a &lt;note&gt;</p><p>another</p><p>keys: CPU</p>"
    )
    assert cells(shown) == [
        ["AutogradCPU", "skipped", "", "none"],
        ["CPU", "chosen", "mul, /somewhere/mul.py:3", "it has one"],
    ]
    assert shown.count("font-weight:bold") == 4
    assert shown.index("bold") > shown.index("AutogradCPU")
    assert shown.endswith(
        '<p>The call raises:</p><pre style="margin:0.3em 0">it &lt;fails&gt;</pre></div>'
    )
    plain = explained(schema="", keys=NOTHING)._repr_html_()
    assert plain.startswith("<div><code>aten::mul</code><p>keys: none</p><table>")
    assert plain.endswith("</table></div>")
    ops = (served("a", primitive=True), served("b", "missing", kernel=None))
    assert cells(Coverage(K.CPU, "cpu", "", ops)._repr_html_().partition("<details>")[2]) == [
        ["a", "kernel", "yes"], ["b", "missing", ""]
    ]  # fmt: skip
    assert Coverage(K.CPU, "", "", ops)._repr_html_().startswith("<div><p>Ops on CPU: 2</p>")


def test_places_are_told_from_the_nearest_folder(monkeypatch, tmp_path):
    inner = tmp_path / "inner"
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), str(inner)])
    assert text.module_path(f"{inner}{os.sep}m.py:3") == "m.py:3"
    assert text.module_path(f"{tmp_path}{os.sep}m.py:3") == "m.py:3"
    assert text.module_path("/elsewhere/m.py:3") == "/elsewhere/m.py:3"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert text.shown_path(f"{inner}{os.sep}m.py:3") == "m.py:3"
    assert text.shown_path(f"{tmp_path}{os.sep}m.py:3") == f"{tmp_path}{os.sep}m.py:3"


@pytest.mark.parametrize(
    ("wide", "width"), [(40, 60), (60, 60), (61, 61), (99, 99), (100, 100), (300, 100)]
)
def test_lines_are_as_long_as_the_terminal_is_wide(wide, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(wide))
    assert text.line_width() == 100
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert text.line_width() == width


def test_after_a_long_first_cell_the_third_has_its_own_line(monkeypatch):
    monkeypatch.setattr(text, "line_width", lambda: 40)
    rows = [("op", "by", "where"), ("n" * 27, "kernel", "w" * 5), ("n" * 26, "kernel", ""),
            ("n" * 25, "k", "w")]  # fmt: skip
    # 40 less two gaps of two, six for the second cell and five for the third
    assert text._fitted(rows) == [
        f"{'op':25}  {'by':6}  where",
        f"{'n' * 27}  kernel",
        " " * 35 + "w" * 5,
        f"{'n' * 26}  kernel",
        f"{'n' * 25}  {'k':6}  w",
    ]
    monkeypatch.setattr(text, "line_width", lambda: 10)
    assert text._fitted([("a" * 21, "b", "c"), ("a" * 20, "b", "c")]) == [
        "a" * 21 + "  b", " " * 25 + "c", "a" * 20 + "  b  c"
    ]  # fmt: skip


def test_columns_are_as_wide_as_their_widest_cell():
    assert text.columns(iter([("a", "bbb", ""), ("cc", "d", "e")])) == ["a   bbb", "cc  d    e"]
