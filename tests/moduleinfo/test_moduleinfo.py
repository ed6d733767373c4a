"""Every module of PyTorch's ModuleInfo database, on PyTorch's samples and with PyTorch's weights."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's samples import it")

import module_checks
from known_modules import REASONS, reason_for
from module_checks import CHECKS, FAILED, MODULES, NONE, has_npu, outcome


@pytest.mark.parametrize("check", [c for c in CHECKS if c != "npu"])
@pytest.mark.parametrize("name", MODULES)
def test_a_module_agrees_with_pytorch(name, check):
    how, why = outcome(name, check)
    if how == NONE:
        pytest.skip("PyTorch has no sample for it")
    if reason_for(name, check):
        assert how == FAILED, "it passes: take it off the list"
        pytest.xfail(reason_for(name, check))
    assert how != FAILED, why


@pytest.mark.parametrize("name", MODULES)
def test_a_module_agrees_on_an_npu(name, monkeypatch):
    if not has_npu():
        pytest.skip("there is no NPU, not even a simulated one")
    monkeypatch.setattr(module_checks, "FEW", 3)
    how, why = outcome(name, "npu")
    if reason_for(name, "npu"):
        assert how == FAILED, "it passes: take it off the list"
        pytest.xfail(reason_for(name, "npu"))
    assert how != FAILED, why


def test_every_module_of_the_database_is_there():
    import mindtorch_core as torch

    absent = [
        info.module_cls.__name__
        for info in MODULES.values()
        if not hasattr(torch.nn, info.module_cls.__name__)
    ]
    assert absent == []


def test_what_is_excused_exists():
    assert REASONS.keys() <= MODULES.keys()
    assert all(CHECKS.keys() >= checks.keys() for checks in REASONS.values())
