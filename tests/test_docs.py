"""The documentation: its code runs, its tables are current, its links lead somewhere."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/*/README.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)


def section(page, title):
    """The text of a page under a heading."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.S | re.M)
    assert found, f"{page} has no section {title!r}"
    return found[1]


def test_the_ten_lines_print_what_they_say(capsys):
    ((language, code),) = FENCE.findall(section("README.md", "Ten lines"))
    assert language == "python"
    exec(compile(code, "README.md", "exec"), {})
    expected = re.search(r"^print\(.*\)  # (.*)$", code, re.M)
    assert capsys.readouterr().out.strip() == expected[1]


def test_the_ops_page_is_what_its_script_prints():
    script = ROOT / "docs" / "make_ops_table.py"
    made = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, encoding="utf-8", check=True
    )
    page = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
    assert page == made.stdout, "run: python docs/make_ops_table.py > docs/ops.md"


def test_the_readme_counts_the_ops():
    counted = re.search(r"^(\d+) ops", (ROOT / "docs" / "ops.md").read_text("utf-8"), re.M)
    assert f"| {counted[1]}, [listed here](docs/ops.md)" in section("README.md", "Status")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor and linked.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.M)
            anchors = [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings]
            assert anchor in anchors, f"{page.name} links to {target}"


def test_the_backend_page_makes_a_working_backend(tmp_path):
    page = (ROOT / "docs" / "backend.md").read_text(encoding="utf-8")
    named = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.S | re.M)
    files = {name.removeprefix("src/"): code for name, code in named.findall(page)}
    files["mindtorch_acme/__init__.py"] = ""
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    info = f"mindtorch_acme-{project['version']}.dist-info"  # makes it count as installed
    files[f"{info}/METADATA"] = f"Name: {project['name']}\nVersion: {project['version']}\n"
    files[f"{info}/entry_points.txt"] = "".join(
        f"[{group}]\n" + "".join(f"{name} = {module}\n" for name, module in points.items())
        for group, points in project["entry-points"].items()
    )
    files["try_acme.py"] += "try: x.sin()\nexcept torch.NoKernelError as e: print(e)\n"
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "try_acme.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = re.search(r"^prints\n\n```text\n(.*?)^```$", page, re.S | re.M)
    refused = re.search(r"^NoKernelError: (.*?)^```$", page, re.S | re.M)
    assert done.stdout == printed[1] + refused[1]
