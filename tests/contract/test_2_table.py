"""The computed table: which kernel an op has at each runtime key, for recorded sets of registrations.

`table_cases.json` holds what PyTorch computes for 276 sets of registrations: every set of up to
three of twelve kinds. Here every order of registration gives the same table, and so does taking
registrations back. In PyTorch some orders leave stale entries; the recorded tables are those that
its rules say.
"""

import itertools
import json
import random
from pathlib import Path

import pytest

from mindtorch_core.dispatch.choice import RULES, choose
from mindtorch_core.dispatch.dispatcher import dispatch_with_keyset
from mindtorch_core.dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values.errors import NoKernelError

DATA = json.loads((Path(__file__).parent / "table_cases.json").read_text(encoding="utf-8"))
CASES = [(tuple(kinds.split(" + ")), *tables) for kinds, *tables in DATA["cases"]]
KEYS = {name: DispatchKey.__members__.get(name) for name in DATA["keys"]}
KINDS = sorted({kind for kinds, *_ in CASES for kind in kinds})
LETTERS = {rule: letter for letter, rule in DATA["letters"].items() if rule in RULES}

# PyTorch's fallbacks for all ops are this project's wrappers, which are not registered kernels. So
# a recorded fallback and a recorded hole are the same here: nothing is registered that serves.
NOTHING = str.maketrans("Ff", "..")

# Between 2.4 and 2.13 PyTorch took Functionalize out of CompositeImplicitAutograd's set. Here it
# is in.
CHANGED_LATER = {("Functionalize", "I", ".")}

OP = "table_test::op"


@pytest.fixture(autouse=True)
def scope():
    with registry.scope():
        registry.register_schema(OP, "op(Tensor[] xs) -> str")
        yield


def register(kind):
    """Register a kernel that says its kind, or for ``ft:CPU`` a fallthrough at CPU."""
    key = kind.removeprefix("ft:")
    if key != kind:
        return registry.register_fallthrough(OP, key)
    return registry.register_kernel(OP, key, lambda xs: kind)


def computed():
    """The table as the recorded ones are written: one letter per key."""
    letters = []
    for key in KEYS.values():
        choice = choose(registry.entry(OP), key)
        letter = LETTERS.get(choice.rule, ".")
        letters.append(letter.lower() if choice.fallthrough else letter)
    return "".join(letters).translate(NOTHING)


def test_the_cases_are_all_sets_of_up_to_three_kinds():
    assert len(KINDS) == 12
    assert [name for name, key in KEYS.items() if key is None] == ["Undefined"]
    same_key = [{"CPU", "ft:CPU"}, {"AutogradCPU", "ft:AutogradCPU"}]
    sets = [set(c) for n in (1, 2, 3) for c in itertools.combinations(KINDS, n)]
    expected = [s for s in sets if not any(pair <= s for pair in same_key)]
    assert sorted(map(sorted, expected)) == sorted(sorted(kinds) for kinds, *_ in CASES)
    assert len(expected) == 276


@pytest.mark.parametrize(
    ("kinds", "torch_2_4"), [pytest.param(*c[:2], id="+".join(c[0])) for c in CASES]
)
def test_every_order_of_registration_gives_the_recorded_table(kinds, torch_2_4):
    for order in itertools.permutations(kinds):
        handles = [register(kind) for kind in order]
        assert computed() == torch_2_4.translate(NOTHING), order
        for handle in handles:
            handle.remove()
    assert set(computed()) == {"."}


def test_registrations_that_were_taken_back_leave_no_trace():
    shuffled = random.Random(0)
    for kinds, torch_2_4, _ in CASES:
        handles = {kind: register(kind) for kind in shuffled.sample(KINDS, len(KINDS))}
        for kind in shuffled.sample(KINDS, len(KINDS)):
            if kind not in kinds:
                handles.pop(kind).remove()
        assert computed() == torch_2_4.translate(NOTHING), kinds
        for handle in handles.values():
            handle.remove()


EXPLICIT = {"CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"}
SERVING = {
    "D": lambda name: {name},
    "E": lambda name: EXPLICIT,
    "I": lambda name: {"CompositeImplicitAutograd"},
    "N": lambda name: {"CompositeImplicitAutogradNestedTensor"},
    "A": lambda name: {"Autograd"},
}


@pytest.mark.parametrize("letter", SERVING)
def test_a_call_with_one_key_runs_the_kernel_of_the_table(letter):
    for kinds, torch_2_4, _ in CASES:
        handles = [register(kind) for kind in kinds]
        for (name, key), recorded in zip(KEYS.items(), torch_2_4, strict=True):
            if recorded == letter:
                ran = dispatch_with_keyset(OP, key or 0, None, [])
                assert ran in SERVING[letter](name) & set(kinds), (kinds, name)
        for handle in handles:
            handle.remove()


def test_a_call_at_an_ambiguous_key_is_refused():
    for kinds, torch_2_4, _ in CASES:
        handles = [register(kind) for kind in kinds]
        for key, recorded in zip(KEYS.values(), torch_2_4, strict=True):
            if recorded == "X":
                with pytest.raises(RuntimeError, match="CompositeImplicitAutograd and a backend"):
                    dispatch_with_keyset(OP, key, None, [])
        for handle in handles:
            handle.remove()


def test_the_only_difference_to_a_later_pytorch_is_the_listed_one():
    differences = set()
    for kinds, _, torch_2_13 in CASES:
        handles = [register(kind) for kind in kinds]
        found = zip(KEYS, computed(), torch_2_13.translate(NOTHING), strict=True)
        differences |= {row for row in found if row[1] != row[2]}
        for handle in handles:
            handle.remove()
    assert differences == CHANGED_LATER


# ---- what falls through -------------------------------------------------------------------------


def test_the_key_set_of_a_kernel_holds_nothing_that_falls_through():
    seen = []
    registry.register_kernel(OP, "Autograd", lambda *args: seen.append(args[0]), with_keyset=True)
    registry.register_fallthrough(OP, "Functionalize")
    registry.register_fallthrough(OP, "SparseCPU")
    keys = [DispatchKey[k] for k in ("AutogradCPU", "Functionalize", "BackendSelect", "SparseCPU")]
    dispatch_with_keyset(OP, DispatchKeySet([*keys, DispatchKey.CPU]), None, [])
    assert [k.name for k in seen[0]] == ["AutogradCPU", "BackendSelect", "CPU"]


def test_a_fallthrough_of_the_strongest_backend_skips_its_functionality():
    for key in ("CPU", "AutogradCPU", "Meta", "AutogradMeta"):
        registry.register_kernel(OP, key, lambda xs, key=key: key)
    both = DispatchKey.CPU | DispatchKey.Meta
    recorded = both | DispatchKey.AutogradCPU | DispatchKey.AutogradMeta
    assert dispatch_with_keyset(OP, recorded, None, []) == "AutogradMeta"
    registry.register_fallthrough(OP, "AutogradMeta")
    assert dispatch_with_keyset(OP, recorded, None, []) == "Meta"
    registry.register_fallthrough(OP, "Meta")
    with pytest.raises(NoKernelError, match="no tensor arguments"):
        dispatch_with_keyset(OP, both, None, [])
    assert dispatch_with_keyset(OP, DispatchKey.CPU, None, []) == "CPU"


def test_a_fallthrough_at_one_layout_leads_to_the_next():
    registry.register_kernel(OP, "CPU", lambda xs: "CPU")
    registry.register_fallthrough(OP, "SparseCPU")
    mask = DispatchKey.CPU | DispatchKey.SparseCPU
    assert dispatch_with_keyset(OP, mask, None, []) == "CPU"
