"""`mindtorch doctor npu`, as users run it."""

import os
import re
import subprocess
import sys

import pytest

from mindtorch_npu import acl, aclnn, doctor


def run(*command, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASCEND_")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", *command],
        env={**env, **environment}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "command", [("mindtorch_core", "doctor", "npu"), ("mindtorch_npu.doctor",)]
)
def test_with_a_toolkit(simulator, command):
    root = os.environ["ASCEND_TOOLKIT_HOME"]
    done = run(*command, ASCEND_TOOLKIT_HOME=root, NPU_SIMULATOR_DEVICES="3")
    assert (done.returncode, done.stderr) == (0, "")
    text = done.stdout
    for line in (
        f"{root} (ASCEND_TOOLKIT_HOME): used",
        f"toolkit: CANN 8.1.RC1 in {root}",
        f"{root}/lib64/libascendcl.so: loaded",
        f"{root}/lib64/libopapi.so: loaded",
        "interface of the runtime: 1.13.0",
        "chip: Ascend910B3",
        "device npu:2: 4.0 GiB of 4.0 GiB free",
    ):
        assert re.search(rf"^ *{re.escape(line)}$", text, re.M), (line, text)
    functions = re.search(r"functions: (\d+) of (\d+)$", text, re.M)
    assert int(functions[2]) == len(acl.PROTOTYPES)
    operators = re.search(r"operators: (\d+) of (\d+)$", text, re.M)
    assert int(operators[2]) == len(aclnn.operators())
    assert 0 < int(operators[1]) <= int(operators[2])


@pytest.mark.parametrize(
    "command", [("mindtorch_core", "doctor", "npu"), ("mindtorch_npu.doctor",)]
)
def test_without_a_toolkit(command, tmp_path):
    done = run(*command, ASCEND_HOME_PATH=str(tmp_path / "gone"), HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{tmp_path / 'gone'} (ASCEND_HOME_PATH): there is no such directory" in done.stdout
    assert "no usable CANN toolkit was found." in done.stdout
    assert "set_env.sh" in done.stdout


def test_what_is_odd_or_missing_is_told(simulator, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/x/runtime/lib64/stub")
    lacking = acl.prototypes.Prototype("aclrtNever", None, (), (), quick=False)
    monkeypatch.setitem(acl.PROTOTYPES, "aclrtNever", lacking)
    found = doctor.diagnose()
    assert found.healthy
    assert "warning: LD_LIBRARY_PATH names /x/runtime/lib64/stub" in found.text
    assert re.search(
        r"^  missing, an error where they are used: .*aclrtNever", found.text, re.M | re.S
    )


def test_without_a_device(simulator):
    done = run(
        "mindtorch_npu.doctor",
        ASCEND_TOOLKIT_HOME=os.environ["ASCEND_TOOLKIT_HOME"],
        NPU_SIMULATOR_FAULTS="aclrtGetDeviceCount:*=507033",
    )
    assert done.returncode == 1
    assert (
        "aclrtGetDeviceCount failed with code 507033 (ACL_ERROR_RT_DEV_SETUP_ERROR)" in done.stdout
    )
    assert "the driver, the firmware and CANN must be of releases that go together" in done.stdout


def test_a_toolkit_that_cannot_be_loaded(tmp_path):
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64/libascendcl.so").write_bytes(b"no library")
    done = run("mindtorch_npu.doctor", ASCEND_TOOLKIT_HOME=str(tmp_path))
    assert done.returncode == 1
    assert re.search(
        r"^  \S+/lib64/libascendcl\.so: not loaded: .*(short|invalid)", done.stdout, re.M
    )
    assert f"source {tmp_path}/set_env.sh" in done.stdout
