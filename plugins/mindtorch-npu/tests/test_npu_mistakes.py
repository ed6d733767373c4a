"""What users get wrong: one error of the expected type each, where they did it, that says what to do."""

import math
import os
import shutil

import pytest

import mindtorch_core as torch
from mindtorch_npu import visible
from mindtorch_npu.ops import matmul

F = torch.nn.functional


# ---- the environment -------------------------------------------------------------------------------

PROGRAM = """if True:
    import mindtorch_core as torch
    print(torch.npu.device_count())
    try:
        torch.zeros(1, device="npu:2")
    except RuntimeError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("value", "count", "said"),
    [
        ("0", 1, "there is 1 npu device"),
        ("1", 1, "there is 1 npu device"),
        ("0,1", 2, "there are 2 npu devices"),
        ("1,0", 1, "there is 1 npu device"),
        ("0,0", 1, "there is 1 npu device"),
        ("7", 0, "no npu device was found"),
        ("", 0, "no npu device was found"),
        ("first", 0, "no npu device was found"),
    ],
)
def test_visible_devices(python, value, count, said):
    first, second, fix = python(PROGRAM, ASCEND_RT_VISIBLE_DEVICES=value).splitlines()
    assert first == str(count)
    assert second.endswith(f"{said}.")
    odd = value not in ("0", "1", "0,1", "7")
    assert f"ASCEND_RT_VISIBLE_DEVICES is {value!r}" in fix
    assert ("write ascending numbers" in fix) is odd


def test_what_is_odd_about_visible_devices(monkeypatch):
    from mindtorch_npu import acl_loader

    monkeypatch.delenv(visible.VARIABLE, raising=False)
    assert visible.misread() == ""
    assert visible.hint(2) == ""
    assert "npu-smi" in visible.hint(0)
    for value in ("0", "1,3,12"):
        monkeypatch.setenv(visible.VARIABLE, value)
        assert visible.misread() == ""
    for value in ("0, 1", "1,0", "2,2", "0,", "-1", "²"):
        monkeypatch.setenv(visible.VARIABLE, value)
        assert visible.misread().startswith(f"ASCEND_RT_VISIBLE_DEVICES is {value!r}")
        assert visible.misread() in acl_loader.report().warnings


@pytest.mark.parametrize("library", ["libascendcl.so", "libnnopbase.so", "libopapi.so"])
def test_a_toolkit_without_one_of_its_libraries(python, tmp_path, library):
    root = tmp_path / "toolkit"
    shutil.copytree(os.environ["ASCEND_TOOLKIT_HOME"], root, symlinks=True)
    # The libraries with parts of the operators would be as good as the whole one.
    for path in [*root.rglob(library), *root.rglob("libaclnn_*.so")]:
        path.unlink(missing_ok=True)  # directories may be links to others
    others = dict.fromkeys(("ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH"), "")
    said = python(PROGRAM, ASCEND_TOOLKIT_HOME=str(root), HOME=str(tmp_path), **others)
    assert said.startswith("0\nToolkit")
    assert library in said
    assert "fix: install" in said


# ---- tensors on several devices --------------------------------------------------------------------

APART = {
    "add": lambda a, b: a + b,
    "add_": lambda a, b: a.add_(b),
    "mm": lambda a, b: a @ b,
    "cat": lambda a, b: torch.cat([a, b]),
    "where": lambda a, b: torch.where(a > 0, a, b),
    "linear": lambda a, b: F.linear(a, b),
    "embedding": lambda a, b: F.embedding(a.long(), b),
    "lerp": lambda a, b: torch.lerp(a, a, b),
    "conv1d": lambda a, b: F.conv1d(a[None], b[None]),
    "gather": lambda a, b: a.gather(0, b.long()),
}


@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("other", ["cpu", "npu:1"])
def test_operands_on_two_devices(npu, name, other):
    here, there = torch.ones(2, 2, device="npu"), torch.ones(2, 2, device=other)
    found = " and ".join(sorted(("npu:0", other)))
    text = (
        f"Expected all tensors to be on the same device, but found at least two devices, {found}!"
    )
    with pytest.raises(RuntimeError) as raised:
        APART[name](here, there)
    assert str(raised.value).startswith(text)
    with pytest.raises(RuntimeError, match="Expected out tensor to have device npu:0, but got"):
        torch.add(here, here, out=there)


def test_indices_are_on_the_cpu_or_the_tensor_s_device(npu):
    here, there = torch.arange(5, device="npu"), torch.tensor([3, 1], device="npu:1")
    assert here[there.cpu()].tolist() == here[there.to("npu:0")].tolist() == [3, 1]
    text = r"indices should be either on cpu or on the same device as the indexed tensor \(npu:0\)"
    with pytest.raises(RuntimeError, match=text):
        here[there]
    with pytest.raises(RuntimeError, match=text):
        here[there] = 0
    with pytest.raises(RuntimeError, match="devices"):
        torch.arange(5)[there]
    assert here.tolist() == [0, 1, 2, 3, 4]


# ---- arguments of torch.npu ------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [3, "npu"])
def test_what_is_no_stream_or_event(npu, wrong):
    mark = npu.Event(enable_timing=True)
    for call in (
        npu.stream,
        npu.set_stream,
        npu.current_stream().wait_stream,
        npu.current_stream().wait_event,
        mark.record,
        mark.wait,
        mark.elapsed_time,
    ):
        with pytest.raises(TypeError, match=rf"expected a torch\.\w+, got {type(wrong).__name__}"):
            call(wrong)
    with pytest.raises(TypeError, match="integer"):
        npu.Stream(priority="high")


def test_events_of_two_devices_do_not_measure_time(npu):
    marks = [npu.Event(enable_timing=True) for _ in range(2)]
    for index, mark in enumerate(marks):
        mark.record(npu.default_stream(index))
        mark.synchronize()
    text = "Event device npu:0 does not match other's device npu:1"
    with pytest.raises(RuntimeError, match=text):
        marks[0].elapsed_time(marks[1])


@pytest.mark.parametrize("timed", [False, True])
def test_an_event_takes_timing_first_as_that_of_cuda_does(npu, timed):
    made = npu.Event(timed)
    assert made.enable_timing is timed
    assert made.device is None
    assert npu.Event(1).device is torch.device("npu:1")


def test_a_name_that_does_not_exist(npu):
    with pytest.raises(AttributeError, match=r"^module 'torch\.npu' has no attribute 'graph'$"):
        npu.graph
    assert not hasattr(npu, "graph")


def test_out_of_memory_under_its_name_in_the_module(npu):
    assert npu.OutOfMemoryError is torch.OutOfMemoryError
    with pytest.raises(npu.OutOfMemoryError, match="Tried to allocate"):
        torch.empty(1 << 60, dtype=torch.uint8, device="npu")


def test_is_npu(npu):
    assert torch.ones(1, device="npu:1").is_npu is True
    assert torch.ones(1).is_npu is False
    assert torch.ones(1).npu(1).device is torch.device("npu:1")


# ---- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        lambda t, value: torch.full((2,), value, dtype=t.dtype, device=t.device),
        lambda t, value: t.fill_(value),
        lambda t, value: t.masked_fill(t == 1, value),
        lambda t, value: t.scatter(0, torch.zeros(1, dtype=torch.int64, device=t.device), value),
        lambda t, value: F.pad(t, (1, 0), value=value),
    ],
)
@pytest.mark.parametrize(("dtype", "value"), [("uint8", 300), ("int32", math.nan), ("half", 1e9)])
def test_numbers_that_do_not_fit_are_not_written(npu, written, dtype, value):
    with pytest.raises(RuntimeError, match="cannot be converted to type"):
        written(torch.ones(2, dtype=getattr(torch, dtype), device="npu"), value)


# ---- what chips lack -------------------------------------------------------------------------------


@pytest.mark.parametrize(("chip", "has"), [("Ascend910A", False), ("Ascend910B1", True)])
def test_bfloat16_is_asked_of_the_chip(python, chip, has):
    program = """if True:
        import warnings
        warnings.simplefilter("ignore")
        import mindtorch_core as torch
        print(torch.npu.is_bf16_supported(), torch.get_autocast_dtype("npu"))
        x = torch.ones(2, 2, device="npu")
        for kind in (None, torch.bfloat16):
            with torch.autocast("npu", dtype=kind):
                print((x @ x).dtype)
    """
    said = python(program, NPU_SIMULATOR_SOC=chip).split()
    lower = "torch.bfloat16" if has else "torch.float32"
    assert said == [str(has), "torch.float16", "torch.float16", lower]


@pytest.mark.parametrize(
    ("chip", "mode"),
    [
        ("Ascend910A", 1),
        ("Ascend910B", 1),  # of the generation before the numbered ones
        ("Ascend310P3", 1),
        ("Ascend910B1", 0),
        ("Ascend910B4-1", 0),
        ("Ascend910_9362", 0),
        ("Ascend910_9599", 0),
        ("Ascend950", 0),
    ],
)
def test_float32_products_are_exact_where_the_chip_can(monkeypatch, chip, mode):
    monkeypatch.setattr(matmul.RUNTIME, "name", lambda: chip)
    assert matmul.precision.__wrapped__() == mode
