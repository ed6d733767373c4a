"""Rules by which ops go over parts: each is of an op that there is, and of all dimensions of its family."""

import re

from mindtorch_core.communication.sharded.axis_rules import AXES
from mindtorch_core.communication.sharded.sample_rules import SAMPLES
from mindtorch_core.dispatch.registry import registry

RULES = {**AXES, **SAMPLES}
# Parts whose windows have one dimension go by the ops of two.
BY_OTHERS = {
    "adaptive_max_pool1d", "avg_pool1d_backward", "max_pool1d_with_indices", "max_pool1d_with_indices_backward",
}  # fmt: skip


def names_of_ops():
    registry.load_backends()
    return {name.partition("::")[2].partition(".")[0] for name in registry.names()}


def test_each_is_of_an_op():
    assert {*RULES} - names_of_ops() == set()


def test_a_family_is_whole():
    families = {re.sub(r"\dd", "Nd", n) for n in RULES if re.search(r"\dd", n)}
    members = {n for n in names_of_ops() if re.sub(r"\dd", "Nd", n) in families}
    assert {n for n in members if n not in RULES} == BY_OTHERS
