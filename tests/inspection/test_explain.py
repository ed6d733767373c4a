"""`explain`: the situations it describes, the data it gives, and what it refuses."""

import dataclasses
import gc
import json
import re
import threading
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.inspection import explain
from mindtorch_core.opdefs.define import op


@pytest.fixture(autouse=True)
def nothing_is_left_of_pipelines():
    """What another test's error holds keeps the Pipeline key in every call."""
    gc.collect()


def names(keys):
    return [key.name for key in keys]


PLAIN = ["ADInplaceOrView", "BackendSelect", "CPU"]


@pytest.mark.parametrize(
    ("options", "keys", "added"),
    [
        ({}, PLAIN, []),
        ({"requires_grad": True}, ["AutogradCPU", *PLAIN], []),
        ({"device": "meta"}, [*PLAIN[:2], "Meta"], []),
        ({"pipeline": True}, [*PLAIN[:2], "Pipeline", "CPU"], ["Pipeline"]),
        ({"inference": True}, ["ADInplaceOrView", "Inference", *PLAIN[1:]], ["Inference"]),
        ({"autocast": True}, ["AutocastCPU", *PLAIN], ["AutocastCPU"]),
        ({"modes": True}, ["ADInplaceOrView", "Python", *PLAIN[1:]], ["Python"]),
        ({"device": "CUDA", "requires_grad": True}, ["AutogradCUDA", *PLAIN[:2], "CUDA"], []),
        ({"device": "SparseCPU", "requires_grad": True}, ["AutogradOther", *PLAIN[:2], "SparseCPU"], []),
    ],
)  # fmt: skip
def test_keys_of_a_described_call(options, keys, added):
    found = explain("exp", **options)
    assert names(found.keys) == keys
    assert names(found.added) == added
    assert not found.excluded


def test_the_key_of_a_pipeline_is_gone_with_what_it_has_left():
    x = torch.ones(2)
    with pytest.raises(torch.PipelineError), torch.pipeline():
        y = x.index_select(0, torch.tensor([5]))
    assert explain("exp").keys.has(DispatchKey.Pipeline)  # to raise where the result is used
    del y
    gc.collect()
    assert not explain("exp").keys.has(DispatchKey.Pipeline)


def test_the_keys_are_those_of_real_calls():
    a, b = torch.ones(2, requires_grad=True), torch.ones(2)
    assert explain("mul", a, b) == explain("mul", requires_grad=True)
    assert explain("mul", b, 2) == explain("mul")
    assert names(explain("cat", [b, a]).keys)[0] == "AutogradCPU"
    assert explain("mul", b, torch.ones((), device="meta")).chosen.key_name == "Meta"
    with torch.inference_mode():
        inference = torch.ones(2)
    assert "Inference" in names(explain("mul", inference, b).keys)


def test_the_state_of_this_thread_counts():
    a = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        found = explain("exp", a)
    assert names(found.excluded) == ["AutogradCPU"]
    assert found.rows[0].outcome == "excluded"
    assert found.chosen.key_name == "CPU"
    with torch.inference_mode():
        assert names(explain("exp", a).excluded) == ["AutogradCPU"]
    with torch.pipeline():
        assert names(explain("exp", a).added) == ["Pipeline"]
        elsewhere = []
        thread = threading.Thread(target=lambda: elsewhere.append(explain("exp", a)))
        thread.start()
        thread.join()
    assert "AutogradCPU" in names(elsewhere[0].keys)


def test_active_modes_are_named():
    class Logger(torch.DispatchMode):
        pass

    class Counter(torch.DispatchMode):
        pass

    with Logger(), Counter():
        row = explain("exp").chosen
    assert row.key_name == "Python"
    assert row.notes == ("modes, innermost first: Counter, Logger",)


def test_ops_without_tensors_take_the_key_of_their_device():
    assert names(explain("zeros").keys) == PLAIN
    assert names(explain("zeros", device="meta").keys)[-1] == "Meta"
    found = explain("zeros", requires_grad=True)
    assert names(found.keys) == PLAIN
    assert "takes no tensors" in found.notes[0]
    assert found.notes[0] in str(found)


def test_kernels_are_named_with_place_and_distribution():
    (row,) = explain("matmul").path
    assert re.fullmatch(r"mindtorch-cpu \d+\.\d+\.\d+", row.kernel.distribution)
    path, _, line = row.kernel.source.rpartition(":")
    text = Path(path).read_text("utf-8").splitlines()[int(line) - 1 :]
    assert f"def {row.kernel.name}(" in "\n".join(text[:3])


def test_decompositions_are_named_with_the_line_of_their_definition():
    row = explain("square").chosen
    assert row.rule in ("explicit", "implicit")
    assert row.kernel.distribution == f"mindtorch-core {torch.__version__}"
    path, _, line = row.kernel.source.rpartition(":")
    assert "operators" in Path(path).parts
    assert "lambda" in Path(path).read_text("utf-8").splitlines()[int(line) - 1]


def test_an_op_without_gradient_formula_is_recorded_by_its_parts():
    chosen, *others = explain("square", requires_grad=True).rows
    assert (chosen.key_name, chosen.outcome, chosen.rule) == ("AutogradCPU", "chosen", "implicit")
    assert chosen.kernel.registered is torch.DispatchKey.CompositeImplicitAutograd
    assert {row.outcome for row in others} == {"unreached"}
    assert "calls other ops" in others[0].why


def test_the_policy_of_autocast_is_named():
    assert explain("matmul", autocast=True).chosen.notes == ("autocast policy: lower_precision_fp",)
    assert explain("exp", autocast=True).chosen.key_name == "CPU"
    with pytest.raises(RuntimeError, match="autocast does not serve the backend Meta"):
        explain("exp", device="meta", autocast=True)


def test_adapters_around_a_kernel_are_noted():
    note = "operands of differing dtypes are converted to a common one first"
    with registry.scope():
        registry.register_kernel("aten::add", "XPU", lambda self, other: self)
        assert explain("add", device="XPU").chosen.notes == (note,)
        registry.register_kernel("aten::add", "XPU", lambda self, other: self, promoted=True)
        assert explain("add", device="XPU").chosen.notes == ()


def test_it_is_frozen_data_and_json():
    found = explain("max.dim", requires_grad=True, pipeline=True)
    assert found == explain("max.dim", requires_grad=True, pipeline=True)
    with pytest.raises(FrozenInstanceError):
        found.op = "another"
    data = json.loads(json.dumps(found.to_dict()))
    assert data["op"] == "aten::max.dim"
    assert data["keys"] == names(found.keys)
    assert data["chosen"] == found.chosen.key_name
    assert [row["key"] for row in data["rows"]] == data["keys"]
    assert data["error"] is None
    kernel = next(row["kernel"] for row in data["rows"] if row["outcome"] == "chosen")
    assert set(kernel) == {"name", "source", "distribution", "registered"}


def test_what_is_too_long_goes_on_four_columns_further_in():
    lines = str(explain("scaled_dot_product_attention", device="CUDA")).splitlines()
    indents = [len(line) - len(line.lstrip()) for line in lines]
    assert indents[:2] == [0, 4]
    (at,) = (
        i for i, line in enumerate(lines) if line.lstrip().startswith("the op has a Composite")
    )
    assert indents[at + 1] == indents[at] + 4


def test_the_text_has_every_part():
    e = dataclasses.replace(
        explain("add"),
        siblings=("aten::one", "aten::two"),
        notes=("a note", "and another"),
        added=torch.DispatchKeySet(torch.DispatchKey.Python),
        error="what happened\n  why: a reason",
    )
    lines = str(e).splitlines()
    at = lines.index(next(line for line in lines if line.startswith("keys: ")))
    assert lines[:at] == [
        "aten::add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "  stands for add.Tensor, add.Scalar",
        "  see also aten::one, aten::two",
        "  a note",
        "  and another",
        "",
    ]
    assert lines[at + 1 : at + 3] == ["of them from the thread's masks: Python", ""]
    assert lines[-4:] == ["", "The call raises:", "  what happened", "    why: a reason"]


def test_the_text_fits_a_terminal_and_names_every_key():
    for options in ({}, {"pipeline": True, "requires_grad": True}, {"device": "CUDA"}):
        found = explain("add", **options)
        text = str(found)
        assert all(row.key_name in text for row in found.rows)
        places = [row.kernel.source.rpartition("/")[2] for row in found.rows if row.kernel]
        assert all(place in text for place in places)
        assert all(len(line) <= 100 for line in text.splitlines() if ".py:" not in line)


@pytest.mark.parametrize("options", [{"device": "cpu"}, {"requires_grad": True}])
def test_a_call_is_not_described_twice(options):
    with pytest.raises(TypeError, match="was given tensors"):
        explain("exp", torch.ones(2), **options)
    with pytest.raises(TypeError, match="was given keys"):
        explain("exp", keys=torch.DispatchKey.CPU, **options)


def test_keys_may_be_given():
    keys = torch.DispatchKeySet([torch.DispatchKey.Pipeline, torch.DispatchKey.CPU])
    found = explain("exp", keys=keys & torch.DispatchKeySet.full_after(torch.DispatchKey.Pipeline))
    assert names(found.keys) == ["CPU"]
    assert explain("exp", keys="CPU") == explain("exp", keys=torch.DispatchKey.CPU) == found
    with pytest.raises(RuntimeError, match="could not parse dispatch key: AutogradCP"):
        explain("exp", keys="AutogradCP")


def test_a_call_that_fails_says_what_it_raises():
    found = explain("exp", device="XPU", requires_grad=True)
    assert found.chosen is None
    assert "Could not run 'aten::exp' with arguments from the 'XPU' backend" in found.error
    assert "The call raises:" in str(found)


def test_wrappers_say_what_they_do_to_this_op():
    def why(key, op, **options):
        return next(row.why for row in explain(op, **options).rows if row.key_name == key)

    assert "records the call for later" in why("Pipeline", "exp", pipeline=True)
    assert "runs the op at once" in why("Pipeline", "nonzero", pipeline=True)
    assert "nothing to defer" in why("Pipeline", "square", pipeline=True)
    assert "autocast policy" in why("AutocastCPU", "mm", autocast=True)
    assert "with autocast off" in why("AutocastCPU", "conj", autocast=True)
    assert "raises the version" in why("ADInplaceOrView", "exp_")


def test_a_pipeline_that_runs_what_an_op_is_made_of_calls_nothing_below():
    with registry.scope():
        op(
            "explain_test::places(Tensor self) -> Tensor",
            decomposition=lambda self: self.nonzero(),
            data_dependent=True,
            namespaces=(),
        )
        registry.register_kernel("explain_test::places", "CPU", lambda self: self)
        found = explain("explain_test::places", torch.ones(2), pipeline=True)
    rows = {row.key_name: row for row in found.rows}
    assert "runs the decomposition" in rows["Pipeline"].why
    assert rows["Pipeline"].calls is None
    assert rows["CPU"].outcome == "unreached"
