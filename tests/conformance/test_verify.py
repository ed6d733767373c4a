"""The kit as a command and under pytest: status, tables, files, known failures, what is refused."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
ABOVE = [path for path in (os.environ.get("PYTHONPATH"),) if path]
KIT = "mindtorch_core.testing.conformance"

# A distribution around the bare backend; `{fault}` is run when it registers its kernels.
PLUGIN = """
from bare_backend.plugin import *
from bare_backend import plugin as bare
from bare_backend.kernels import KERNELS
from bare_backend.runtime import RUNTIME
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, hookimpl

@hookimpl
def mindtorch_backend():
    return Backend(device="bare", runtime=RUNTIME, api=1, known_failures="{known}")

@hookimpl
def mindtorch_register(key):
    bare.mindtorch_register(key)
    {fault}
"""
WRONG_NEG = 'registry.register_kernel("neg", key, lambda self: KERNELS["neg"](self).double())'


@pytest.fixture
def site(tmp_path):
    """Installs a variant of the bare backend, and runs commands that find it."""

    class Site:
        folder = tmp_path

        def install(self, fault="pass", known=None):
            package = tmp_path / "mindtorch_variant"
            package.mkdir()
            (package / "__init__.py").write_text("")
            (package / "plugin.py").write_text(
                PLUGIN.format(fault=fault, known="known.txt" if known is not None else "")
            )
            if known is not None:
                (package / "known.txt").write_text(known)
            info = tmp_path / "mindtorch_variant-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(
                "Metadata-Version: 2.1\nName: mindtorch-variant\nVersion: 1.0\n"
            )
            (info / "entry_points.txt").write_text(
                "[mindtorch.backends]\nbare = mindtorch_variant.plugin\n"
            )

        def run(self, *command, backends="", **variables):
            env = {**os.environ, **variables, "MINDTORCH_BACKENDS": backends}
            env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(TESTS), *ABOVE])
            return subprocess.run(
                [sys.executable, *command],
                cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip

        def verify(self, *arguments, **options):
            return self.run("-m", "mindtorch_core", "verify", *arguments, **options)

    return Site()


def test_the_cpu_passes_the_level_smoke(site):
    done = site.verify("cpu", "--level", "smoke", "--html", "cpu.html", "--junit", "cpu.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^conformance of 'cpu', mindtorch-cpu \S+, level smoke$", done.stdout, re.M)
    for row in ("element-wise", "views", "all ops"):
        found = counts(done, row)
        assert found["passed"] == found["ops"] > 0
    assert "\n..." not in done.stdout  # no sign of each test
    cases = list(ElementTree.parse(site.folder / "cpu.xml").iter("testcase"))
    assert len(cases) > 3000
    assert not [c for c in cases if c.find("failure") is not None]
    page = (site.folder / "cpu.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\s*=|https?://|@import|fetch\(", page)  # it needs no network
    data = data_of(page)
    for state in data["states"]:  # each has a colour, a sign beside it, and an explanation
        assert re.search(rf"^  (.*; )?--{state}: #[0-9a-f]{{6}};", page, re.M)
        assert len(re.findall(rf"[ {{]{state}: \"", page)) == 2
    assert data["device"] == "cpu"
    assert data["totals"]["failed"] == 0
    (streams,) = [each for each in data["others"] if each["test"] == "test_streams"]
    assert streams["problems"] == [["skipped", "test_streams", "cpu has no streams"]]
    (exp,) = [row for row in data["ops"] if row["op"] == "exp"]
    assert exp["cells"]["float32"]["state"] == "passed"
    assert {"bool", "int64", "float16", "float64", "complex64"} <= set(data["dtypes"])


def counts(done, name):
    """The numbers of a row of the table, by column."""
    (head,) = re.findall(r"^family +(.*)$", done.stdout, re.M)
    (row,) = re.findall(rf"^{name} +(.*)$", done.stdout, re.M)
    numbers = [int(text.replace("-", "0")) for text in row.split()]
    return dict(zip(head.split(), numbers, strict=True))


def data_of(page):
    (text,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_a_fault_is_named_and_the_status_is_1(site):
    site.install(WRONG_NEG)
    chosen = ("-k", "neg-float32 or reading_waits")
    done = site.verify(
        "bare", "--level", "smoke", *chosen, "--html", "bare.html", "--junit", "bare.xml"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    line = next(
        line for line in done.stdout.splitlines() if line.startswith("failed: test_forward")
    )
    assert line.startswith("failed: test_forward[neg-float32]: neg(float32[2, 3]) raised")
    assert "returned [2, 3] torch.float64 where the op's rule says [2, 3] torch.float32" in line
    assert counts(done, "all ops")["failed"] >= 1
    assert counts(done, "runtime tests") | {"ops": 1} == {
        "ops": 1, "passed": 1, "failed": 0, "missing": 0, "expected": 0, "skipped": 0,
    }  # fmt: skip
    (row,) = [
        r for r in data_of((site.folder / "bare.html").read_text())["ops"] if r["op"] == "neg"
    ]
    assert row["cells"]["float32"]["state"] == "failed"
    assert any("rule says" in message for _, _, message in row["cells"]["float32"]["problems"])
    failed = [
        c.get("name")
        for c in ElementTree.parse(site.folder / "bare.xml").iter("testcase")
        if c.find("failure") is not None
    ]
    assert "test_forward[neg-float32]" in failed


def test_what_the_cpu_computes_is_counted_and_can_be_refused(site):
    site.install('registry.register_kernel("exp", key, lambda self: on_cpu("aten::exp", self))')
    plugin = site.folder / "mindtorch_variant" / "plugin.py"
    plugin.write_text(
        plugin.read_text() + "\nfrom mindtorch_core.library import cpu_fallback as on_cpu\n"
    )
    chosen = (
        "--level",
        "smoke",
        "-k",
        "test_forward and (exp-float32 or neg-float32 or erfinv-fl)",
    )
    done = site.verify("bare", *chosen)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(
        r"^served: \d+ ops by kernels of bare, \d+ by compositions, 1 left", done.stdout, re.M
    )
    assert re.search(r"^the CPU computed \d+ calls of 2 ops: .*exp \d+", done.stdout, re.M)
    done = site.verify("bare", *chosen, "--no-fallback")
    assert done.returncode == 1
    failed = re.findall(
        r"^failed: (\S+): the CPU computed aten::(\w+) \(\d+ calls\)", done.stdout, re.M
    )
    assert ("test_forward[exp-float32]:", "exp") in [(f"{test}:", op) for test, op in failed]
    assert {op for _, op in failed} == {"exp", "erfinv"}
    assert "test_forward[neg-float32]" not in done.stdout


def test_shards_are_all_of_it_once(site):
    chosen = ("--level", "smoke", "-k", "test_forward and (exp or sum)", "--junit", "part.xml")

    def names(*more):
        done = site.verify("cpu", *chosen, *more)
        assert done.returncode == 0, done.stdout + done.stderr
        cases = ElementTree.parse(site.folder / "part.xml").iter("testcase")
        return [case.get("name") for case in cases]

    whole = names()
    parts = [names("--shard", f"{i}/2") for i in (1, 2)]
    assert sorted([*parts[0], *parts[1]]) == sorted(whole)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_shards_are_all_of_it_once_whatever_orders_the_tests(site):
    (site.folder / "in_turns.py").write_text(
        "import os\n"
        "def pytest_collection_modifyitems(items):\n"
        "    items.sort(key=lambda i: hash((os.environ['PYTHONHASHSEED'], i.nodeid)))\n"
    )
    chosen = ("--level", "smoke", "-k", "test_forward and exp", "--junit", "part.xml")
    found = []
    for i in (1, 2):
        env = {"PYTEST_PLUGINS": "in_turns", "PYTHONHASHSEED": str(i)}
        done = site.verify("cpu", *chosen, "--shard", f"{i}/2", **env)
        assert done.returncode == 0, done.stdout + done.stderr
        cases = ElementTree.parse(site.folder / "part.xml").iter("testcase")
        found += [case.get("name") for case in cases]
    assert len(found) == len({*found}) > 2
    done = site.verify("cpu", *chosen)
    cases = ElementTree.parse(site.folder / "part.xml").iter("testcase")
    assert sorted(found) == sorted(case.get("name") for case in cases)


def test_a_part_without_a_test_is_none_that_fails(site):
    chosen = ("cpu", "--level", "smoke", "-k", "test_forward and exp-float32")
    done = site.verify(*chosen, "--shard", "900/900")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "part 900/900 has no test: there are fewer tests than parts" in done.stderr


def test_what_is_declared_of_the_numbers_is_reported(site):
    site.install()
    plugin = site.folder / "mindtorch_variant" / "plugin.py"
    text = plugin.read_text().replace(
        "import Backend, hookimpl", "import Backend, Numerics, hookimpl"
    )
    numbers = "numerics=Numerics(True, ('complex128',), {'exp': 1e-3})"
    plugin.write_text(text.replace('known_failures=""', numbers))
    done = site.verify("bare", "--level", "smoke", "-k", "subnormal or declared_dtypes")
    assert "declared: flushes subnormal numbers, no complex128, exp to 0.001" in done.stdout
    assert done.returncode == 1  # it has complex128
    assert "names complex128, which bare computes with" in done.stdout


def test_a_failure_shows_what_differs_and_the_operands(site):
    site.install(
        'registry.register_kernel("exp", key, lambda self: KERNELS["add"](KERNELS["exp"](self), '
        'KERNELS["exp"](self)))'
    )
    done = site.verify("bare", "--level", "smoke", "-k", "test_agrees_with_cpu and exp-float32")
    assert done.returncode == 1
    assert re.search(r"difference: .* at index \(\d, \d\) .*\n  First at \(0, 0\): ", done.stdout)
    assert re.search(r"^  operands: float32\[2, 3\] \[-?\d\S*, ", done.stdout, re.M)


def test_declared_failures_are_expected_and_strict(site):
    site.install(WRONG_NEG, known="test_*[neg-float32]  # always float64\n")
    done = site.verify("bare", "--level", "smoke", "-k", "test_forward and neg-float32")
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts(done, "all ops")["expected"] == 1
    assert counts(done, "all ops")["failed"] == 0
    (site.folder / "mindtorch_variant" / "known.txt").write_text(
        "test_forward[exp-float32]  # this one is right\ntest_reading_waits  # so is this\n"
    )
    done = site.verify("bare", "--level", "smoke", "-k", "exp-float32 or reading_waits")
    assert done.returncode == 1
    assert "failed: test_reading_waits: [XPASS(strict)] so is this" in done.stdout
    assert "failed: test_forward[exp-float32]: [XPASS(strict)] this one is right" in done.stdout


def test_one_process_may_run_the_kit_several_times(site):
    site.install("RUNTIME.copy_to_host = lambda memory, start, nbytes: memoryview(bytes(nbytes))")
    done = site.run(
        "-c",
        "from mindtorch_core.cli import main\n"
        "chosen = ['--level', 'smoke', '-k', 'reading_waits']\n"
        "status = [main(['verify', device, *chosen]) for device in ('cpu', 'bare', 'cpu')]\n"
        "assert status == [0, 1, 0], status\n",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("failed: test_reading_waits") == 1
    assert re.findall(r"^runtime tests +(\d+)", done.stdout, re.M) == ["1", "1", "1"]


def test_a_list_of_failures_must_be_there(site):
    site.install(known="")
    (site.folder / "mindtorch_variant" / "known.txt").unlink()
    done = site.verify("bare", "--level", "smoke", "-k", "reading_waits")
    assert done.returncode != 0
    assert "no tests could be made: " in done.stdout
    assert "known.txt lists its known failures" in done.stdout + done.stderr


def test_a_missing_kernel_counts_as_missing(site):
    site.install('registry.register_kernel("exp", key, lambda self: NOTHING(self))')
    source = (site.folder / "mindtorch_variant" / "plugin.py").read_text()
    (site.folder / "mindtorch_variant" / "plugin.py").write_text(
        source + "\nfrom mindtorch_core import NoKernelError\n"
        "def NOTHING(*args):\n    raise NoKernelError('none', op='exp', device='bare')\n"
    )
    done = site.verify(
        "bare", "--level", "smoke", "-k", "test_forward and (exp-float32 or neg-float32)"
    )
    assert done.returncode == 1
    assert "missing: test_forward[exp-float32]" in done.stdout
    assert counts(done, "all ops")["missing"] >= 1
    assert counts(done, "all ops")["failed"] == 0


def test_without_a_cpu_backend_the_rest_is_tested(site):
    site.install()
    chosen = "mm-2d or exp-float32 or reading_waits or copies or seeds or programs or positions"
    chosen += " or test_empty_memory"
    done = site.verify("bare", "--level", "smoke", "-k", chosen, backends="bare")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no CPU backend is installed: left out" in done.stdout
    assert counts(done, "all ops")["passed"] >= 2
    assert counts(done, "runtime tests")["passed"] >= 4


def test_a_kernel_that_raises_is_named_with_its_line(site):
    site.install('registry.register_kernel("exp", key, lambda self: self.nothing)')
    done = site.verify("bare", "--level", "smoke", "-k", "test_forward and exp-float32")
    assert done.returncode == 1
    source = (site.folder / "mindtorch_variant" / "plugin.py").read_text()
    line = source[: source.index("self.nothing")].count("\n") + 1
    (failed,) = re.findall(r"^failed: test_forward\[exp-float32\].*$", done.stdout, re.M)
    assert "AttributeError" in failed
    assert failed.endswith(f"mindtorch_variant/plugin.py:{line})"), failed


def test_samples_of_a_dtype_that_the_device_lacks_are_left_out(site):
    site.install('for name in ("eq", "exp"): registry.register_kernel(name, key, no_halves(name))')
    plugin = site.folder / "mindtorch_variant" / "plugin.py"
    plugin.write_text(
        plugin.read_text() + "\nfrom mindtorch_core import bfloat16\n"
        "def no_halves(name):\n"
        "    def run(*args):\n"
        "        if args[0].dtype is bfloat16: raise TypeError('no bfloat16')\n"
        "        return KERNELS[name](*args)\n"
        "    return run\n"
    )
    done = site.verify("bare", "--level", "smoke", "-k", "test_forward and exp- and not _exp")
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts(done, "all ops")["failed"] == 0
    assert re.search(r"\d passed, 1 skipped", done.stdout)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nix"], "No installed backend provides it"),
        (["cpu", "--level", "smoke", "-k", "exp and ("], "pytest refuses the arguments"),
        (["cpu", "--level", "smoke", "-k", "no_such_test"], "no test matches -k 'no_such_test'"),
        (["cpu", "--html", "nowhere/page.html"], "cannot write 'nowhere/page.html'"),
        (["cpu", "--shard", "4/3"], "a shard is i/n with i from 1 to n"),
        (["cpu", "--level", "most"], "invalid choice: 'most'"),
        (["cpu", "-n", "2"], "-n is for communicators"),
        (["cpu", "--communicator", "mpi"], "the device 'cpu': that is of devices, not of"),
        (
            ["--communicator", "mpi", "--shard", "1/2", "--no-fallback"],
            "--no-fallback, --shard: that is of devices, not of communicators",
        ),
    ],
)
def test_wrong_arguments_are_one_line(site, arguments, text):
    done = site.verify(*arguments)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_private_names_are_listed_with_the_public_ones(site):
    chosen = ("--level", "smoke", "-k", "reading_waits")
    site.install()
    assert "warning" not in site.verify("bare", *chosen).stdout
    kernels = site.folder / "mindtorch_variant" / "kernels.py"
    kernels.write_text("from mindtorch_core.values.dtypes import pack\n\n" + "x._payload\n" * 50)
    done = site.verify("bare", *chosen)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("warning: ")]
    told = "mindtorch_core.values.dtypes.pack is private: use mindtorch_core.backend.pack"
    assert lines[0] == f"warning: {kernels}:1: {told}"
    assert lines[1] == f"warning: {kernels}:3: Tensor._payload is private: use Tensor.raw_data"
    assert len(lines) == 40
    assert "... and 11 more; mindtorch doctor bare lists them all" in done.stdout


# ---- under pytest -------------------------------------------------------------------------------


def test_pytest_runs_the_kit_by_its_name(site):
    """As a user types it: the core's distribution has an entry point for pytest."""
    site.install()
    command = ("-m", "pytest", "-p", "no:cacheprovider", "--pyargs", KIT)
    options = ("--device", "bare", "--level", "smoke", "-k", "reading_waits or mm-2d")
    done = site.run(*command, *options, "--conformance-html", "page.html", "--junitxml", "all.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "conformance of 'bare', mindtorch-variant 1.0, level smoke" in done.stdout
    assert data_of((site.folder / "page.html").read_text())["device"] == "bare"
    assert (site.folder / "all.xml").is_file()
    done = site.run(*command)
    assert done.returncode == 4
    assert "name the device to test: --device NAME" in done.stderr


def test_other_runs_of_pytest_get_no_options(site):
    (site.folder / "test_nothing.py").write_text(
        "import sys\ndef test_nothing(): assert 'mindtorch_core' not in sys.modules\n"
    )
    command = ("-m", "pytest", "-p", "no:cacheprovider", "test_nothing.py")
    done = site.run(*command)
    assert done.returncode == 0, done.stdout
    assert site.run(*command, "--device", "bare").returncode == 4  # pytest knows no such option
