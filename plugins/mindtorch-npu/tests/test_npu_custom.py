"""Custom operator packages: where they are found, what they replace, and how their operators are called."""

import shutil
import subprocess

import pytest

from mindtorch_npu import aclnn, custom
from mindtorch_npu.aclnn import signatures

# Twice is Muls by 2; Exp is replaced by a wrong one, to be told from the toolkit's.
SOURCE = r"""
#include <stdint.h>
int aclnnMulsGetWorkspaceSize(const void *, const void *, void *, uint64_t *, void **);
int aclnnMuls(void *, uint64_t, void *, void *);
int aclnnNegGetWorkspaceSize(const void *, void *, uint64_t *, void **);
int aclnnNeg(void *, uint64_t, void *, void *);

int aclnnTwiceGetWorkspaceSize(const void *x, const void *two, void *y, uint64_t *size, void **executor) {
  return aclnnMulsGetWorkspaceSize(x, two, y, size, executor);
}
int aclnnTwice(void *workspace, uint64_t size, void *executor, void *stream) {
  return aclnnMuls(workspace, size, executor, stream);
}
int aclnnExpGetWorkspaceSize(const void *self, void *out, uint64_t *size, void **executor) {
  return aclnnNegGetWorkspaceSize(self, out, size, executor);
}
int aclnnExp(void *workspace, uint64_t size, void *executor, void *stream) {
  return aclnnNeg(workspace, size, executor, stream);
}
"""


def package(root):
    """A folder that looks like a custom package."""
    library = root / "op_api/lib/libcust_opapi.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"")
    return library


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of a package that works."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler, which builds the custom package of this test")
    root = tmp_path_factory.mktemp("vendor")
    (root / "custom.c").write_text(SOURCE, encoding="utf-8")
    library = package(root)
    command = [compiler, "-shared", "-fPIC", "-o", str(library), str(root / "custom.c")]
    subprocess.run(command, check=True, timeout=600)
    return root


# ---- finding ---------------------------------------------------------------------------------------


def test_packages_of_the_environment_then_those_installed(tmp_path, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    vendors = tmp_path / "opp/vendors"
    vendors.mkdir(parents=True)
    monkeypatch.setenv(custom.VARIABLE, f"{one}:: {two} :{one}")
    monkeypatch.delenv("ASCEND_OPP_PATH", raising=False)
    places = [one, two]
    found = [folder / custom.LIBRARY for folder in places]
    assert custom.libraries(tmp_path / "opp") == found  # no config.ini, no packages
    (vendors / "config.ini").write_text("# order\nload_priority = acme, customize,\nother=x\n")
    found += [vendors / name / custom.LIBRARY for name in ("acme", "customize")]
    assert custom.libraries(tmp_path / "opp") == found
    monkeypatch.setenv(custom.VARIABLE, "")
    monkeypatch.setenv("ASCEND_OPP_PATH", str(tmp_path / "opp"))
    assert custom.libraries(tmp_path / "elsewhere") == found[2:]


# ---- loading ---------------------------------------------------------------------------------------

PROGRAM = """if True:
    import mindtorch_core as torch
    from mindtorch_npu import aclnn
    x = torch.tensor([1.0, -3.0], device="npu")
    aclnn.declare("Twice", "x:T two:S y:T>")
    y = torch.empty(2, device="npu")
    aclnn.call("Twice", x, 2, y)
    print(y.tolist(), x.exp().tolist())
"""


@pytest.mark.parametrize("place", ["environment", "vendors"])
def test_operators_of_a_package_are_called_and_replace_those_of_cann(
    python, built, tmp_path, place
):
    if place == "environment":
        environment = {custom.VARIABLE: f"{tmp_path / 'gone'}:{built}"}
    else:
        vendors = tmp_path / "opp/vendors"
        vendors.mkdir(parents=True)
        (vendors / "mine").symlink_to(built)
        (vendors / "config.ini").write_text("load_priority=mine\n")
        environment = {"ASCEND_OPP_PATH": str(tmp_path / "opp")}
    assert python(PROGRAM, **environment) == "[2.0, -6.0] [-1.0, 3.0]\n"


def test_without_the_package_its_operator_is_missing(python):
    said = python(
        """if True:
        import mindtorch_core as torch
        from mindtorch_npu import aclnn
        aclnn.declare("Twice", "x:T two:S y:T>")
        assert not aclnn.available("Twice")
        x = torch.ones(2, device="npu")
        try:
            aclnn.call("Twice", x, 2, x)
        except aclnn.UnsupportedOperator as error:
            print(error)
        """
    )
    assert "has no operator aclnnTwice" in said


def test_the_doctor_tells_of_packages(python, built, tmp_path):
    broken = package(tmp_path / "broken")
    gone = tmp_path / "gone"
    said = python(
        "from mindtorch_npu.doctor import main; main()",
        **{custom.VARIABLE: f"{built}:{gone}:{tmp_path / 'broken'}"},
    )
    lines = [line.strip() for line in said.splitlines()]
    assert f"{built / custom.LIBRARY}: loaded" in lines
    assert f"{gone / custom.LIBRARY}: not loaded: no such file (can be done without)" in lines
    assert any(line.startswith(f"{broken}: not loaded: ") for line in lines)
    assert "taken from custom packages: Exp" in lines


# ---- declaring -------------------------------------------------------------------------------------


def test_a_declared_operator_is_a_row_of_the_table():
    try:
        for _ in range(2):  # saying the same again is no mistake
            aclnn.declare("Mine", " x:T   bias:S y:T> ")
        row = aclnn.operator("Mine")
        assert row.parameters == (("x", "T"), ("bias", "S"), ("y", "T>"))
        assert "Mine" in aclnn.operators()
        with pytest.raises(ValueError, match="aclnnMine is in the table already"):
            aclnn.declare("Mine", "x:T y:T>")
    finally:
        signatures._lines().pop("Mine", None)
        signatures.operator.cache_clear()


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("Add", "self:T out:T>", "aclnnAdd is in the table already"),
        ("Mine", "x:Q", "unknown kind"),
        ("Mine", "x", "unknown kind"),
        ("Mine", "alpha:S", "needs a tensor"),
        ("Mine", "", "needs a tensor"),
    ],
)
def test_what_cannot_be_declared(name, parameters, said):
    with pytest.raises(ValueError, match=said):
        aclnn.declare(name, parameters)
    assert "Mine" not in aclnn.operators()
    with pytest.raises(ValueError, match=r"aclnn\.declare"):
        aclnn.operator("Mine")
