"""The documentation: its code runs, its links lead somewhere."""

import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import explain
from mindtorch_core.values.devices import row_of

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


def test_the_readme_counts_the_ops():
    counted = re.search(r"^(\d+) ops", (ROOT / "docs" / "ops.md").read_text("utf-8"), re.M)
    assert f"| {counted[1]}, [listed here](docs/ops.md)" in section("README.md", "Status")


def test_the_path_through_the_core_is_as_short_as_it_says():
    path = section("docs/architecture.md", "A path of 2,000 lines")
    files = re.findall(r"`([a-z_/]+\.py)`", path)
    assert len(files) >= 10
    lines = [(ROOT / "mindtorch_core" / f).read_text("utf-8").count("\n") for f in files]
    assert 1_500 < sum(lines) < 2_500


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


BACKEND = (ROOT / "docs" / "backend.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def acme(tmp_path_factory):
    """A folder with what the backend page writes, installed, and its program."""
    folder = tmp_path_factory.mktemp("backend")
    named = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.S | re.M)
    files = {name.removeprefix("src/"): code for name, code in named.findall(BACKEND)}
    files["mindtorch_acme/__init__.py"] = ""
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    info = f"mindtorch_acme-{project['version']}.dist-info"  # makes it count as installed
    files[f"{info}/METADATA"] = f"Name: {project['name']}\nVersion: {project['version']}\n"
    files[f"{info}/entry_points.txt"] = "".join(
        f"[{group}]\n" + "".join(f"{name} = {module}\n" for name, module in points.items())
        for group, points in project["entry-points"].items()
    )
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def in_folder(folder, *arguments):
    """Run an interpreter that finds a folder's packages; what it prints."""
    above = [path for path in (os.environ.get("PYTHONPATH"),) if path]
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *above])},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_backend_page_makes_a_working_backend(acme):
    printed = re.search(r"^prints\n\n```text\n(.*?)^```$", BACKEND, re.S | re.M)
    assert in_folder(acme, "-W", "error", "try_acme.py") == printed[1]


def test_fused_kernels_of_the_backend_page_train(acme):
    printed = re.findall(r"^prints\n\n```text\n(.*?)^```$", BACKEND, re.S | re.M)
    assert in_folder(acme, "-W", "error", "train_fused.py") == printed[1]


@pytest.mark.slow
def test_the_backend_of_the_page_passes_the_kit(acme):
    (command,) = [code for language, code in FENCE.findall(BACKEND) if language == "console"]
    arguments = [*command.removeprefix("$ mindtorch ").split(), "--shard", "1/4"]
    assert re.search(r"^\d{4,} passed", in_folder(acme, "-m", "mindtorch_core", *arguments), re.M)


@pytest.mark.slow
def test_the_test_file_of_the_backend_page_is_collected(acme):
    (code,) = [c for language, c in FENCE.findall(BACKEND) if "BackendConformance" in c]
    (acme / "test_acme.py").write_text(code, encoding="utf-8")
    chosen = "test_forward and relu"
    text = in_folder(acme, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen)
    assert re.search(r"^\d+ passed", text, re.M)


# ---- the page on dispatch ----------------------------------------------------------------------

DISPATCH = (ROOT / "docs" / "dispatch.md").read_text(encoding="utf-8")


def run(*command):
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "page", ["array_api", "autograd", "dispatch", "custom_ops", "start", "training"]
)
def test_the_examples_of_a_page_print_what_it_says(page, tmp_path):
    blocks = FENCE.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    script, expected = [], []
    for (language, code), (following, printed) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "python":
            script += [code, "print('----')\n"]
            expected.append(printed if following == "text" else "")
    file = tmp_path / "page.py"
    file.write_text("".join(script), encoding="utf-8")
    assert run(str(file)).split("----\n")[:-1] == expected
    assert len(expected) >= 6


def test_the_dispatch_page_shows_what_the_command_prints():
    def normalised(text):
        text = re.sub(r"[^\s]*?(mindtorch_\w+/\S+\.py):\d+", r"\1:N", text)
        return re.sub(r"\d+\.\d+\.\d+", "V", text)

    shown = [code for language, code in FENCE.findall(DISPATCH) if language == "console"]
    assert shown
    for code in shown:
        command, _, output = code.removeprefix("$ mindtorch ").partition("\n")
        found = run("-m", "mindtorch_core", *command.split())
        assert normalised(found) == normalised(output)


def test_what_follows_from_the_rules_is_what_the_page_says():
    text = DISPATCH.partition("What follows from the rules:")[2].partition("The order of")[0]
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", text, re.M)[2:]
    assert len(rows) == 11
    for registered, *wanted in rows:
        found = []
        with registry.scope():
            registry.register_schema("docs_test::op", "op(Tensor x) -> Tensor")
            for key in [] if registered == "nothing" else registered.split(", "):
                registry.register_kernel("docs_test::op", key, lambda x: x)
            for mask in (DispatchKey.AutogradCPU | DispatchKey.CPU, DispatchKey.CPU):
                rows = explain("docs_test::op", keys=mask).rows
                # Not that of a pipeline which another test's thread has left open.
                row = next(r for r in rows if r.key is None or r.key & mask)
                kernel = "nothing" if row.kernel is None else row.kernel.registered.name
                found.append("the wrapper" if row.rule == "wrapper" else kernel)
        assert found == wanted, registered


# ---- the page on troubles ----------------------------------------------------------------------


def test_the_programs_of_the_page_on_troubles_fail_as_it_says():
    blocks = FENCE.findall((ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8"))
    languages, texts = zip(*blocks, strict=True)
    assert languages == ("python", "text") * (len(blocks) // 2)
    assert len(blocks) >= 24
    scope = {}
    for code, message in zip(texts[::2], texts[1::2], strict=True):
        with pytest.raises(
            Exception, match=re.escape(message.partition(": ")[2].strip())
        ) as caught:
            exec(compile(code, "page.py", "exec"), scope)
        assert type(caught.value).__name__ == message.partition(": ")[0]


# ---- the front page ----------------------------------------------------------------------------


def test_the_front_page_prints_what_it_says(capsys):
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    ((_, code),) = FENCE.findall(page)
    exec(compile(code, "index.md", "exec"), {})
    assert capsys.readouterr().out.strip() == re.search(r"^print\(.*\)  # (.*)$", code, re.M)[1]


# ---- the page on pipelines ---------------------------------------------------------------------

PIPELINE = FENCE.findall((ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8"))


def test_the_examples_of_the_pipeline_page_print_what_it_says(capsys):
    scope = {"__name__": "__main__"}
    compared = 0
    for (language, code), (following, text) in zip(
        PIPELINE, [*PIPELINE[1:], ("", "")], strict=True
    ):
        if language == "python":
            exec(compile(code, "train.py", "exec"), scope)
            assert capsys.readouterr().out == (text if following == "text" else "")
            compared += following == "text"
    assert compared == 9


def test_the_compiler_of_the_page_on_programs(toy, monkeypatch):
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    (code,) = [code for language, code in FENCE.findall(page) if language == "python"]
    scope = {}
    exec(code, scope)
    monkeypatch.setattr(toy.ToyRuntime, "compile", scope["CompilingRuntime"].compile, raising=False)

    def block(x, number):
        with torch.pipeline(through_backward=True) as pipe:
            y = x * number + 1
            y.sum().backward()
            x.detach().add_(1)
        return pipe, y.tolist(), x.tolist(), x.grad.tolist()

    for device in ("cpu", "toy"):
        x = torch.ones(2, device=device, requires_grad=True)
        found = [block(x, number) for number in (2.0, 0.5)]
        assert [f[1:] for f in found] == [
            ([3.0, 3.0], [2.0, 2.0], [2.0, 2.0]),
            ([2.0, 2.0], [3.0, 3.0], [2.5, 2.5]),
        ]
    assert all(pipe.stats()["fused_groups"] >= 1 for pipe, *_ in found)


def test_the_compiler_of_the_page_on_programs_takes_ops_that_write_several(monkeypatch):
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    (code,) = [code for language, code in FENCE.findall(page) if language == "python"]
    scope = {}
    exec(code, scope)
    runtime = type(row_of("cpu").runtime)

    def trained():
        w = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
        for _ in range(2):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        return w

    wanted = trained().tolist()
    monkeypatch.setattr(runtime, "compile", scope["CompilingRuntime"].compile)
    monkeypatch.setattr(runtime, "compiles_at_once", True)
    monkeypatch.setattr(runtime, "planned_from", 0)
    PROGRAMS.forget("cpu")
    registry.forget_computed()  # kernels that ops were given know whether the runtime compiles at once
    try:
        with torch.pipeline(through_backward=True) as pipe:
            found = trained()
    finally:
        PROGRAMS.forget("cpu")
        monkeypatch.undo()
        registry.forget_computed()
    assert found.tolist() == wanted
    assert pipe.stats()["fused_ops"] > 10


def plan_of_the_page():
    (code,) = [code for language, code in PIPELINE if "def plan" in code]
    scope = {}
    exec(code, scope)
    return scope["AcmeRuntime"].plan


def test_the_plan_of_the_pipeline_page_serves_a_third_party(toy, monkeypatch):
    monkeypatch.setattr(toy.ToyRuntime, "plan", plan_of_the_page(), raising=False)
    a, b = torch.tensor([1.0, -2.0], device="toy"), torch.ones(2, device="toy")
    toy.CALLS.clear()
    with torch.pipeline() as pipe:
        made = torch.add(a, b, alpha=2).relu().sum()
        assert not toy.CALLS
    assert made.item() == 3.0
    assert (pipe.stats()["recorded"], pipe.stats()["fused_ops"]) == (3, 3)


def test_the_plan_of_the_pipeline_page_computes_everything_at_once(monkeypatch):
    monkeypatch.setattr(type(row_of("cpu").runtime), "plan", plan_of_the_page())
    x = torch.ones(512, 512)
    with torch.pipeline() as pipe:
        made = ((x * 2).t() @ x).relu_().sum(0) / 1024
    assert made.tolist() == [512.0] * 512
    assert pipe.stats()["fused_ops"] == pipe.stats()["recorded"] == 6


# ---- the reference for backends ----------------------------------------------------------------


def test_the_backend_reference_names_every_hook_field_and_method():
    from dataclasses import fields

    from mindtorch_core.plugins import Backend, hookspecs
    from mindtorch_core.runtime import Runtime

    page = (ROOT / "docs" / "backend_reference.md").read_text("utf-8")
    hooks = [name for name in vars(hookspecs) if name.startswith("mindtorch_")]
    methods = [n for n in vars(Runtime) if not n.startswith("_")]
    assert len(hooks) >= 3
    assert len(methods) >= 30
    for name in (*hooks, *methods, *(f.name for f in fields(Backend))):
        assert re.search(rf"`{name}[`(]", page), f"{name} is missing"


def test_the_backend_reference_names_what_exists_with_its_arguments():
    from mindtorch_core.plugins import hookspecs
    from mindtorch_core.runtime import Runtime
    from mindtorch_core.streams import Event, Stream

    page = (ROOT / "docs" / "backend_reference.md").read_text("utf-8")
    tables = {
        "| hook | when | must |": hookspecs,
        "| method | what | default |": Runtime,
        "| `Stream` | ": Stream,
        "| `Event` | ": Event,
    }
    for head, owner in tables.items():
        (table,) = re.findall(
            rf"^{re.escape(head)}.*?(?=\n(?:\n|\| `Event`)|\Z)", page, re.S | re.M
        )
        calls = re.findall(r"`(_?[a-z]\w*)\(([^)`]*)\)`", table)
        assert len(calls) >= 3, head
        for name, arguments in calls:
            found = inspect.signature(getattr(owner, name))
            wanted = [a for a in found.parameters if a not in ("self", "cls")]
            assert arguments.replace("*", "").split(", ") == (wanted or [""]), name


def test_the_backend_reference_names_the_fields_and_constructors_of_tensors():
    from mindtorch_core import backend

    page = (ROOT / "docs" / "backend_reference.md").read_text("utf-8")
    for name in backend.FIELDS:
        assert re.search(rf"^\|[^|]*`{name}`", page, re.M), f"{name} is missing"
    (table, _) = re.findall(r"^\| call \| what \|\n(\| -.*?)(?=\n\n)", page, re.S | re.M)
    calls = dict(re.findall(r"^\| `([\w.]+)\(([^)`]*)\)`", table, re.M))
    assert {*calls} >= {"tensor_over", "make_view", "view_around", "make_tensor", "Runtime.empty"}
    assert calls.pop("fresh") == ""
    for name, arguments in calls.items():
        owner, _, method = name.rpartition(".")
        found = getattr(getattr(backend, owner) if owner else backend, method)
        names = [n for n in inspect.signature(found).parameters if n != "self"]
        assert arguments.split(", ") == names, name


def test_the_backend_reference_names_what_the_door_has():
    from mindtorch_core import backend

    page = (ROOT / "docs" / "backend_reference.md").read_text("utf-8")
    (table,) = re.findall(r"^\| group of .*?\n(\| -.*?)(?=\n\n)", page, re.S | re.M)
    named = {*re.findall(r"`([A-Za-z_]\w*)`", table)}
    assert len(named) > 60
    assert named <= {*backend.__all__}


def test_the_promise_names_the_present_plugin_interface():
    from mindtorch_core.plugins import OLDEST_PLUGIN_API, PLUGIN_API

    page = (ROOT / "docs" / "stability.md").read_text("utf-8")
    numbers = [int(n) for n in re.findall(r"^\| (\d+) \| ", page, re.M)]
    assert numbers[-1] == PLUGIN_API
    assert OLDEST_PLUGIN_API in numbers
    assert f"Backend(api={PLUGIN_API}, " in page


def test_the_op_of_the_backend_reference_is_the_examples():
    page = (ROOT / "docs" / "backend_reference.md").read_text("utf-8")
    ((_, code),) = [block for block in FENCE.findall(page) if block[0] == "python"]
    source = ROOT / "examples/mindtorch-acme/src/mindtorch_acme/ops.py"
    assert code in source.read_text("utf-8")
