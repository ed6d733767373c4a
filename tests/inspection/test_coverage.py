"""`coverage`: how backends serve every op."""

import json

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import aliases, coverage, keys
from mindtorch_core.opdefs.define import definitions


def test_the_cpu_serves_every_op():
    found = coverage("cpu")
    assert (found.key, found.device) == (DispatchKey.CPU, "cpu")
    assert found.distribution.startswith("mindtorch-cpu ")
    assert found.missing == ()
    assert sum(found.totals.values()) == len(found.ops) >= len(definitions())
    served = {each.op: each for each in found.ops}
    assert served["aten::matmul"].served == "kernel"
    assert served["aten::matmul"].kernel.distribution == found.distribution
    assert served["aten::square"].served == "decomposition"


def test_primitives_are_those_of_the_definitions():
    wanted = {registry.entry(d.name).name for d in definitions() if d.traits.primitive}
    assert {each.op for each in coverage().primitives} == wanted
    missing = coverage("CUDA").missing
    assert {each.op for each in missing} <= wanted
    assert {each.op for each in missing} >= {"aten::add", "aten::mm", "aten::exp"}
    assert all(each.kernel is None for each in missing)


def test_it_says_what_a_backend_runs():
    with registry.scope():
        registry.register_schema("coverage_test::op", "op(Tensor x) -> Tensor")
        served = {each.op: each.served for each in coverage("cpu").ops}
        assert served["coverage_test::op"] == "missing"
        registry.register_kernel("coverage_test::op", "CPU", lambda x: x)
        served = {each.op: each.served for each in coverage("cpu").ops}
        assert served["coverage_test::op"] == "kernel"
        registry.register_fallthrough("coverage_test::op", "CPU")
        served = {each.op: each.served for each in coverage("cpu").ops}
        assert served["coverage_test::op"] == "missing"
        registry.register_fallback("XPU", lambda name, *args: None)
        served = {each.op: each.served for each in coverage("XPU").ops}
        assert served["coverage_test::op"] == "fallback"
    assert "coverage_test::op" not in {each.op for each in coverage("cpu").ops}


def test_it_is_json_and_text():
    found = coverage("meta")
    data = json.loads(json.dumps(found.to_dict()))
    assert data["key"] == "Meta"
    assert data["totals"] == found.totals
    assert len(data["ops"]) == len(found.ops)
    text = str(found)
    assert all(each.op in text for each in found.ops)
    assert f"supplied by {found.distribution}" in text
    assert max(map(len, text.splitlines())) <= 100


def test_rows_of_the_text_are_broken_only_where_names_are_too_long():
    found = coverage("cpu")
    lines = str(found).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("op "))
    second, third = lines[begin].index("served by"), lines[begin].index("where")
    rows = iter(lines[begin + 1 :])
    for each in found.ops:
        line = next(rows)
        name, served = line.split()[:2]
        assert (name, served) == (each.op, each.served)
        if len(name) + 2 > second:
            line = next(rows)
            assert not line[:third].strip()
        else:
            assert line.index(served, len(name)) == second
        assert ":" in line[third:]


def test_an_unknown_backend_is_refused():
    with pytest.raises(
        torch.BackendUnavailableError, match="no installed backend provides the device 'cuda'"
    ):
        coverage("cuda")


def test_keys_are_listed_highest_first_with_their_purpose():
    listed = keys()
    assert [k.bit for k in listed] == list(range(len(listed) - 1, -1, -1))
    assert [int(k.key) for k in listed] == [1 << k.bit for k in listed]
    assert all(k.purpose for k in listed)
    families = {k.key.name: k.functionality for k in listed}
    assert families["CPU"] == "Dense"
    assert families["AutogradCPU"] == "AutogradFunctionality"
    assert families["AutogradOther"] == "AutogradOther"
    assert families["SparseCsrCPU"] == "SparseCsr"


def test_every_key_is_a_runtime_key_or_an_alias():
    listed = [k.key for k in keys()] + [a.key for a in aliases()]
    assert sorted(listed) == sorted(DispatchKey)
    members = {a.key.name: {m.name for m in a.members} for a in aliases()}
    assert "AutogradCPU" in members["Autograd"]
    assert "SparseCPU" not in members["CompositeExplicitAutogradNonFunctional"]
    assert members["FuncTorchBatchedDecomposition"] == {"FuncTorchBatched"}
