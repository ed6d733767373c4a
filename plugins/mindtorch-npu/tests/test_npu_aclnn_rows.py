"""Every row of the operator table against the library that exports the operator."""

import gc
import re

import mindtorch_core as torch
from mindtorch_npu import aclnn
from mindtorch_npu.acl import ACLError
from mindtorch_npu.aclnn.calls import bound

VALUES = {"i64": 0, "u64": 0, "i32": 1, "i8": 0, "b": False, "f64": 1.0, "f32": 1.0, "str": "none"}
OBJECTS = {"S": 1, "SL": [1], "IA": (1,), "FA": (1.0,), "BA": (True, True, True)}


def plausible(kind, t):
    """An argument of a kind: operators may refuse its value, but must not misunderstand it."""
    if kind.startswith("T"):
        return [t, t] if kind.startswith("TL") else t
    return torch.float32 if kind == "DT" else {**VALUES, **OBJECTS}[kind]


def refusal(name, arguments):
    """What phase one says against a call: its error, or None."""
    try:
        aclnn.prepare(name, *arguments).release()
    except ACLError as error:
        return error
    return None


def test_every_row_is_understood_by_the_library(npu, simulator):
    """With each object left out in turn the library must miss the very parameter that was left out."""
    t = torch.ones(2, 3).to("npu")
    npu.synchronize()
    gc.collect()
    before = simulator.live()
    missed = []
    names = [name for name in aclnn.operators() if aclnn.available(name)]
    for name in names:
        row = aclnn.operator(name)
        arguments = [plausible(kind, t) for _, kind in row.parameters]
        assert len(bound(name).phase1.argtypes) == len(arguments) + 2
        error = refusal(name, arguments)
        assert error is None or error.code in (161002, 561103), error
        tensors = [i for i, (_, kind) in enumerate(row.parameters) if kind in ("T", "T>", "T±")]
        for i, (parameter, kind) in enumerate(row.parameters):
            if kind in VALUES or kind == "DT" or tensors == [i]:
                continue  # numbers cannot be left out; one tensor has to tell the device
            given = [None if j == i else value for j, value in enumerate(arguments)]
            try:
                error = refusal(name, given)
            except TypeError:  # it was the tensor that tells the device
                continue
            if error is not None and error.code == 161001:
                found = re.search(r"(\w+) is null", error.message)[1]
                missed.append(parameter)
                assert found.rstrip("s") == parameter.rstrip("s"), error
    gc.collect()
    assert simulator.live() == before
    assert len(names) > 100
    assert len(missed) > 200
