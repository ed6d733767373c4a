"""What backends that compile pass wrongly to the public interface is refused where they do so."""

import pytest
from compilers import compiler, ones  # noqa: F401 (a fixture)

import mindtorch_core as torch
from mindtorch_core.backend import PROGRAMS, Plan, SchemaError, Step, op

PLANS = {
    "no list": (lambda: Plan(3), "are a list of Step or None, but 3 is neither"),
    "a number": (lambda: Plan([1]), "are a list of Step or None, but 1 is neither"),
    "a text": (lambda: Plan("ab"), "but 'a' is neither"),
    "one of several": (lambda: Plan([None, Step((0,)), (1,)]), r"but \(1,\) is neither"),
    "what computes": (lambda: Step((0,), 5), "a function without arguments, or None, not 5"),
    "results": (lambda: Step((0,), [1]), r"a function without arguments, or None, not \[1\]"),
    "groups": (lambda: Plan(groups="a"), "'a' is no whole number"),
    "fused": (lambda: Plan(fused=True), "True is no whole number"),
    "memory": (lambda: Plan(peak_bytes=0.5), "0.5 is no whole number"),
    "remade": (lambda: Plan(remade=None), "None is no whole number"),
}


@pytest.mark.parametrize("what", PLANS)
def test_plans_and_steps(what):
    make, text = PLANS[what]
    with pytest.raises(TypeError, match=text):
        make()


def test_the_steps_of_a_plan_may_come_once_or_stay_the_list_that_they_are():
    steps = [Step((0,)), None]
    assert Plan(steps).steps is steps
    assert Plan(iter(steps)).steps == steps
    assert Plan().steps is None


FORGOTTEN = {
    "unknown": (
        "nope",
        RuntimeError,
        "Expected a known device type at start of device string: nope",
    ),
    "number": (3, TypeError, "takes the type of a device, such as 'cpu', or None, not 3"),
    "device": (torch.device("cpu"), TypeError, r"or None, not device\(type='cpu'\)"),
    "with an index": (
        "cpu:0",
        ValueError,
        "takes the type of a device, such as 'cpu', not 'cpu:0'",
    ),
}


@pytest.mark.parametrize("what", FORGOTTEN)
def test_programs_are_forgotten_by_the_type_of_a_device(what):
    device, kind, text = FORGOTTEN[what]
    with pytest.raises(kind, match=text):
        PROGRAMS.forget(device)


@pytest.mark.usefixtures("compiler")
def test_what_is_refused_forgets_nothing():
    with torch.pipeline():
        kept = ones(2) + 1
    assert kept.tolist() == [2, 2]
    before = PROGRAMS.stats()["kept"]
    with pytest.raises(RuntimeError, match="nope"):
        PROGRAMS.forget("nope")
    assert PROGRAMS.stats()["kept"] == before > 0
    PROGRAMS.forget("toy")
    assert PROGRAMS.stats()["kept"] < before


@pytest.mark.parametrize("bound", ["a", 1.5, None, True])
def test_the_bound_of_what_is_kept_is_a_whole_number(bound):
    with pytest.raises(TypeError, match=f"^{bound!r} is no whole number$"):
        PROGRAMS.bound = bound


SCHEMAS = {
    "not a schema": "expected an operator name",
    "": "expected an operator name",
    "of_nobody": r"expected '\(' and the arguments",
    "of_nobody(Tensor self)": "expected '->' and the returns",
    "of_nobody(Tensr self) -> Tensor": r"did you mean Tensor\?",
    "of-nobody(Tensor self) -> Tensor": r"expected '\(' and the arguments but found '-'",
    "of_nobody(Tensor self, Tensor self) -> Tensor": "since 'self' is taken",
    "of_nobody(Tensor a=1, Tensor b) -> Tensor": "expected no default",
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_schemas_that_do_not_parse(schema):
    with pytest.raises(SchemaError, match=SCHEMAS[schema]):
        op(schema)
    assert not hasattr(torch, "of_nobody")


PROPERTIES = {
    "unknown": ({"rul": None}, "op() got rul=None, but ops have no such property: of_nobody"),
    "rule": ({"rule": 3}, "op() got rule=3, where a function is expected: of_nobody"),
    "decomposition": (
        {"decomposition": "add"},
        "op() got decomposition='add', where a function is expected",
    ),
    "of a form that is not": ({"out_needs": 3}, "op() got out_needs, but not out=True"),
}


@pytest.mark.parametrize("what", PROPERTIES)
def test_properties_of_ops(what):
    given, text = PROPERTIES[what]
    with pytest.raises(TypeError) as raised:
        op("of_nobody(Tensor self) -> Tensor", **given)
    assert str(raised.value).startswith(text)
    assert not hasattr(torch, "of_nobody")


@pytest.mark.parametrize("schema", [3, None, b"of_nobody(Tensor self) -> Tensor"])
def test_schemas_are_texts(schema):
    with pytest.raises(TypeError, match="a schema must be a str"):
        op(schema)
