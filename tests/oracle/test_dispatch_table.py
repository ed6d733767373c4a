"""Which kernel a call runs, against PyTorch, for random registrations and random calls.

Each example registers the same kernels in both libraries, in the same order and with the same ones
taken back, and every kernel answers with its own name. Both must then have the same computed table
and give the same answer to a call, or both refuse it. `DIFFERENCES` says where the two differ on
purpose; where one is taken into account, a comment names it.
"""

import contextlib
import itertools
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from mindtorch_core.dispatch.calls.fronts import make_front
from mindtorch_core.dispatch.choice import choose
from mindtorch_core.dispatch.dispatcher import dispatch, dispatch_with_keyset, redispatch
from mindtorch_core.dispatch.keys import (
    DispatchKey,
    DispatchKeySet,
    exclude_keys,
    include_keys,
    mask_of,
)
from mindtorch_core.dispatch.registry import fallthrough_kernel, registry

pt = pytest.importorskip("torch")
C = pt._C

DIFFERENCES = {
    "fallbacks": "PyTorch has fallbacks for all ops at most keys above the backends. Here a wrapper "
    "serves them, or they fall through because they have nothing to wrap.",
    "holes": "A key above the backends without any kernel is an error in PyTorch; here it has "
    "nothing to wrap. An Autograd key leads to what is below all Autograd keys.",
    "private use": "A PrivateUse key without kernel is an error in PyTorch; here it is one where "
    "memory lives there, and passed over otherwise.",
    "functionalize": "CompositeImplicitAutograd serves Functionalize here and in PyTorch 2.4, but "
    "not in later versions.",
    "autocast": "Autocast keys come from a thread's mask, not from tensors. So one is passed over in "
    "calls whose strongest backend is another.",
    "plain tensors": "Here only tensors that require grad carry an Autograd key. In PyTorch all do, "
    "so it is called below Autograd when they do not.",
    "no_grad": "While recording is off, the Autograd keys are excluded here. PyTorch calls their kernels, "
    "which look at a flag.",
    "redispatch": "Redispatching to a key that falls through is an error in PyTorch, a skip here. And it "
    "applies the thread's masks here: the kernel of an included key would come back to itself.",
    "two devices": "A kernel of a backend is handed tensors of one device here, with which CPU "
    "tensors without dimensions are joined.",
}

BACKENDS = ("CPU", "CUDA", "HIP", "XLA", "PrivateUse1", "PrivateUse2", "Meta")
FAMILIES = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
SINGLE_BACKENDS = ("FPGA", "MkldnnCPU", "CustomRNGKeyId")
AUTOGRAD_SINGLES = ("AutogradOther", "AutogradNestedTensor")
WRAPPERS = (
    *["BackendSelect", "Python", "Functionalize", "Conjugate", "ZeroTensor", "ADInplaceOrView"],
    *AUTOGRAD_SINGLES,
    *["Tracer", "AutocastCPU", "AutocastCUDA", "AutocastPrivateUse1", "FuncTorchBatched"],
    *["FuncTorchVmapMode", "VmapMode", "DeferredInit", "PythonTLSSnapshot", "PreDispatch"],
)
SINGLES = (*SINGLE_BACKENDS, *WRAPPERS)
ALIASES = (
    *["Autograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd"],
    *["CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor"],
    "FuncTorchBatchedDecomposition",
)
NAMES = (*(f + b for f in FAMILIES for b in BACKENDS), *SINGLES)
# What PyTorch stores as one functionality, and so leaves, excludes and skips together.
PARTS = {f + b: (f, b) for f, b in itertools.product(FAMILIES, BACKENDS)}
FAMILY = {n: {n} for n in SINGLES} | {n: {f + b for b in BACKENDS} for n, (f, _) in PARTS.items()}
FALLBACKS = ("SparseCPU", "QuantizedXPU", "FPGA", "PrivateUse2", "AutogradIPU", "DeferredInit")

_OURS = ("Pipeline", "Inference", "ForwardGrad")
# Every runtime key that both have, and none at all.
SHARED = {None: "Undefined"} | {
    k: k.name
    for k in DispatchKey
    if k < DispatchKey.Autograd and k.name not in _OURS and "NPU" not in k.name
    if k.name not in ("AutocastPrivateUse2", "AutocastPrivateUse3")
}
KNOWN = C.DispatchKey.__members__  # the other keys have no name in Python, and are parsed
THEIRS = {
    name: KNOWN[name] if name in KNOWN else C._dispatch_key_parse(name)
    for name in (*SHARED.values(), *ALIASES)
}
LABELS = {
    "kernel": "direct",
    "default backend kernel": "explicit",
    "math kernel": "implicit",
    "nested kernel": "nested",
    "autograd kernel": "autograd",
    "batched kernel": "batched",
    "ambiguous autogradother": "ambiguous",
    "backend fallback": "fallback",
}
FUNCTIONALIZE_DIFFERS = not C._dispatch_is_included_in_alias(
    THEIRS["Functionalize"], THEIRS["CompositeImplicitAutograd"]
)
NOTHING = C.DispatchKeySet(C.DispatchKey.Undefined)
SPACE = "dispatch_table_oracle"
pytestmark = pytest.mark.filterwarnings("ignore:Warning only once for all operators")
numbers = itertools.count()


def closed(names):
    """The key set with these keys as PyTorch stores it: every functionality on every backend."""
    pairs = [PARTS[n] for n in names if n in PARTS]
    families, backends = {f for f, _ in pairs}, {b for _, b in pairs}
    return (names - PARTS.keys()) | {f + b for f, b in itertools.product(families, backends)}


def foreign_autocast(names):
    """The Autocast keys that are for another backend than the call's: see "autocast"."""
    dense = [b for b in BACKENDS if b in names]
    return {n for n in names if n.startswith("Autocast") and dense and dense[-1] not in n}


def our_mask(names):
    return mask_of(DispatchKey[n] for n in names)


def their_keyset(names):
    out = NOTHING
    for n in names:
        out = out | C.DispatchKeySet(THEIRS[n])
    return out


def their_names(keyset):
    return {n for n in NAMES if keyset.has(THEIRS[n])}


def answer(call):
    """What a call returns, or that it was refused."""
    try:
        return call()
    except RuntimeError:
        return "refused"


class Twin:
    """An op with the same registrations in both libraries."""

    def __init__(self):
        self.name = f"{SPACE}::op{next(numbers)}"
        self.short = self.name.partition("::")[2]
        self.exits = contextlib.ExitStack()
        self.fallbacks = set()
        self.handles = []

    def __enter__(self):
        registry.load_backends()
        self.exits.enter_context(registry.scope())
        schema = f"{self.short}(Tensor[] xs) -> str"
        self._library(SPACE).define(schema)
        registry.register_schema(self.name, schema)
        self.theirs = getattr(getattr(pt.ops, SPACE), self.short).default
        return self

    def __exit__(self, *exc_info):
        self.exits.close()

    def _library(self, space):
        """A library of PyTorch's that is destroyed with the twin, or before."""
        made = pt.library.Library(space, "IMPL" if space == "_" else "FRAGMENT")
        self.exits.callback(made._destroy)
        return made

    # ---- registering ---------------------------------------------------------------------------

    def register(self, key, *, through, onward):
        """Register a kernel in both, which may go on to what is below, or a fallthrough."""
        mark = f"{key} #{len(self.handles)}"
        library = self._library(SPACE)
        if through:
            library.m.impl(self.short, key, pt.library.fallthrough_kernel, False)
            made = registry.register_fallthrough(self.name, key)
        else:
            leaves = "AutogradOther" if key.startswith("Autograd") else key
            onward = onward and leaves in WRAPPERS

            def theirs(keyset, xs):
                return f"{mark} > {self._their_next(keyset, leaves, xs)}" if onward else mark

            def ours(keyset, xs):
                return f"{mark} > {self._our_next(keyset, leaves, xs)}" if onward else mark

            # Past Library.impl, which refuses Meta where the op has a decomposition.
            library.m.impl(self.short, key, theirs, True)
            made = registry.register_kernel(self.name, key, ours, with_keyset=True)
        self.handles.append((library, made))

    def _our_next(self, keyset, key, xs):
        return redispatch(self.name, keyset & DispatchKeySet.full_after(DispatchKey[key]), xs)

    def _their_next(self, keyset, key, xs):
        names = their_names(keyset & C._dispatch_keyset_full_after(THEIRS[key]))
        # The second set, because of "redispatch".
        return self.theirs.redispatch(their_keyset(self.comparable(names)[1]), xs)

    def register_fallback(self, key, *, through):
        """Register a fallback for all ops in both, unless PyTorch has one there."""
        if not hasattr(pt.library.Library, "fallback"):  # PyTorch 2.4
            return
        if key in self.fallbacks or C._dispatch_has_backend_fallback(THEIRS[key]):
            return
        self.fallbacks.add(key)
        if through:
            self._library("_").fallback(pt.library.fallthrough_kernel, key)
            registry.register_fallback(key, fallthrough_kernel)
        else:
            mark = f"fallback at {key}"
            self._library("_").fallback(lambda keyset, op, *args: mark, key, with_keyset=True)
            registry.register_fallback(key, lambda keyset, op, *args: mark, with_keyset=True)

    def remove(self, index):
        """Take a registration back in both."""
        for undo in (self.handles[index][0]._destroy, self.handles[index][1].remove):
            undo()

    def refresh(self):
        """Have PyTorch compute its entries again: some orders of registration leave stale ones."""
        library = self._library(SPACE)
        library.m.impl(self.short, "CompositeImplicitAutograd", lambda xs: "", False)
        library._destroy()
        C._dispatch_check_invariants(self.name)
        self.table = self._dumped()

    # ---- what PyTorch has ----------------------------------------------------------------------

    def functionalize_differs(self):
        """Whether CompositeImplicitAutograd serves Functionalize for this op in one of the two."""
        has = C._dispatch_has_kernel_for_dispatch_key
        return (
            FUNCTIONALIZE_DIFFERS
            and has(self.name, "CompositeImplicitAutograd")
            and not has(self.name, "CompositeExplicitAutograd")
            and not has(self.name, "Functionalize")
        )

    def _dumped(self):
        """PyTorch's table: the rule at each key, and whether it falls through."""
        found = {}
        for line in C._dispatch_dump_table(self.name).splitlines():
            key, text, label = re.fullmatch(r"(\w+): (.*) \[(.*)\]", line).groups()
            rule = LABELS[label]
            if rule == "fallback" and key not in self.fallbacks:
                rule = "own fallback"
            found[key] = (rule, text.startswith("fallthrough"))
        return found

    def comparable(self, names):
        """A key set to call PyTorch with, such that it should do what this project does with `names`.

        Returns:
            The set, and the same without what falls through in it.
        """
        given = left = names - foreign_autocast(names)
        while left:
            key = C._dispatch_key_name(their_keyset(left).highestPriorityTypeId())
            rule, through = self.table.get(key, ("missing", False))
            unserved = rule in ("missing", "own fallback")
            autograd = key.startswith("Autograd")
            if through:
                left = left - FAMILY[key]
            elif unserved and autograd:  # "holes"; PyTorch's own fallback does the same
                gone = {n for n in names if n.startswith("Autograd")}
                left = left - gone
                if rule == "missing":
                    given = given - gone
            elif unserved and key in WRAPPERS:  # "holes" and "fallbacks"
                left, given = left - {key}, given - {key}
            elif unserved and key in ("PrivateUse1", "PrivateUse2"):  # "private use"
                left = {n for n in left if not n.endswith(key)}
                given = left
            else:
                break
        return given, left


# ---- examples -----------------------------------------------------------------------------------

REGISTERED = (
    *ALIASES,
    *["CPU", "CUDA", "Meta", "PrivateUse1", "PrivateUse2", "XLA", "HIP", "QuantizedCPU"],
    "SparseCPU",
    *["SparseMeta", "SparseCsrCPU", "NestedTensorCPU", "FPGA", "MkldnnCPU", "AutogradCPU"],
    *["AutogradCUDA", "AutogradMeta", "AutogradPrivateUse1", "AutogradPrivateUse2"],
    *WRAPPERS,
)
# More than half of the registrations are where most of what can go wrong is.
OFTEN = (*ALIASES, "CPU", "Meta", "SparseCPU", "AutogradCPU", "AutogradMeta", "AutogradOther")
registrations = st.lists(
    st.tuples(st.sampled_from(OFTEN * 4 + REGISTERED), st.integers(0, 4), st.booleans()),
    min_size=2,
    max_size=9,
)
removals = st.lists(st.integers(0, 8), max_size=2)
fallbacks = st.dictionaries(st.sampled_from(FALLBACKS), st.booleans(), max_size=2)


@st.composite
def registrations_and_key_sets(draw):
    """Registrations, and key sets that mostly hold keys with a registration."""
    registered = draw(registrations)
    own = [key for key, *_ in registered if key in FAMILY] or ["CPU"]
    named = st.sets(st.sampled_from(own * 20 + list(NAMES)), max_size=4)
    passed_over = st.sampled_from([set(), set(), {"PrivateUse1"}])
    key_sets = st.builds(lambda a, b: closed(a | b), named, passed_over)
    return registered, draw(st.lists(key_sets, min_size=1, max_size=5))


EXAMPLES = settings(max_examples=300, deadline=None, derandomize=True)


def register_all(twin, registrations, removals, fallbacks):
    for key, through in fallbacks.items():
        twin.register_fallback(key, through=through)
    for key, kind, onward in registrations:
        twin.register(key, through=kind == 0, onward=onward)
    for index in dict.fromkeys(removals):
        if index < len(registrations):
            twin.remove(index)
    twin.refresh()


@EXAMPLES
@given(registrations, removals, fallbacks)
@example([("CompositeImplicitAutograd", 1, False), ("HIP", 1, False)], [], {})
def test_the_computed_table_is_pytorchs(registrations, removals, fallbacks):
    with Twin() as twin:
        register_all(twin, registrations, removals, fallbacks)
        for key, name in SHARED.items():
            rule, through = twin.table.get(name, ("missing", False))
            choice = choose(registry.entry(twin.name), key)
            if name == "Functionalize" and twin.functionalize_differs():
                assert choice.rule == "implicit"
            elif rule == "own fallback":  # the Meta plugin has one too
                assert choice.rule == ("fallback" if key is DispatchKey.Meta else "missing")
            else:
                assert (choice.rule, choice.fallthrough) == (rule, through), name


@EXAMPLES
@given(registrations_and_key_sets(), removals, fallbacks)
def test_a_key_set_runs_pytorchs_kernels(case, removals, fallbacks):
    registrations, key_sets = case
    with Twin() as twin:
        register_all(twin, registrations, removals, fallbacks)
        for names in key_sets:
            if twin.functionalize_differs():
                names = names - {"Functionalize"}
            if any(onward for *_, onward in registrations):
                # Below a fallthrough of the backends no backend is left to tell whose key it is.
                names = names - foreign_autocast(names)
            theirs = their_keyset(twin.comparable(names)[0])
            with C._ForceDispatchKeyGuard(theirs, NOTHING):
                expected = answer(lambda: twin.theirs([]))
            given = our_mask(names)
            assert answer(lambda: dispatch_with_keyset(twin.name, given, None, [])) == expected
            assert answer(lambda: redispatch(twin.name, given, [])) == expected


DEVICES = ([], ["cpu"], ["meta"], ["cpu", "cpu"], ["cpu", "meta"], ["meta", "cpu"])
INCLUDED = [n for n in NAMES if "PrivateUse" not in n and not n.startswith("Autocast")]
guards = st.lists(
    st.sampled_from(["no_grad", "below autograd"])
    | st.tuples(st.just("exclude"), st.sampled_from(NAMES))
    | st.tuples(st.just("include"), st.sampled_from(INCLUDED)),
    max_size=3,
)


def tensors(library, devices, *, grad):
    """One tensor on each device; those on the CPU have no dimensions if another device is there."""
    shapes = {"cpu": () if "meta" in devices else (2,), "meta": (2,)}
    return [library.ones(shapes[d], device=d).requires_grad_(grad) for d in devices]


def names_of(devices, included):
    """The keys that PyTorch finds on tensors and in the include mask together."""
    own = {"cpu": {"CPU", "AutogradCPU"}, "meta": {"Meta", "AutogradMeta"}}
    carried = set().union(*(own[d] for d in devices))
    return closed(carried | included | {"BackendSelect", "ADInplaceOrView"})


AUTOGRAD = {n for n in NAMES if n.startswith("Autograd")}


def entered(library, guard, included):
    """The context manager of one guard, in one of the libraries."""
    theirs = library is pt
    if guard == "no_grad":
        return library.no_grad()
    if guard == "below autograd":
        return C._AutoDispatchBelowAutograd() if theirs else exclude_keys(DispatchKey.Autograd)
    kind, name = guard
    if kind == "exclude":
        family = FAMILY[name]
        guard = C._ExcludeDispatchKeyGuard
        return guard(their_keyset(family)) if theirs else exclude_keys(our_mask(family))
    return C._IncludeDispatchKeyGuard(THEIRS[name]) if theirs else include_keys(included)


@EXAMPLES
@given(registrations, removals, st.sampled_from(DEVICES), st.booleans(), guards)
def test_a_call_with_tensors_runs_pytorchs_kernels(registrations, removals, devices, grad, guards):
    named = [g for g in guards if isinstance(g, tuple)]
    included_names = {name for kind, name in named if kind == "include"}
    included = names_of(devices, included_names)
    excluded = set().union(*(FAMILY[name] for kind, name in named if kind == "exclude"))
    left_out = set() if grad else set(AUTOGRAD)  # "plain tensors"
    if included_names:  # "redispatch"
        registrations = [(key, kind, False) for key, kind, _ in registrations]
    with Twin() as twin:
        register_all(twin, registrations, removals, {})
        if twin.functionalize_differs():
            left_out.add("Functionalize")
        excluded |= left_out
        if "below autograd" in guards or "no_grad" in guards:  # "no_grad"
            excluded |= AUTOGRAD
        names = included - excluded
        dropped = set().union(*(FAMILY[n] for n in names - twin.comparable(names)[0]))
        given = tensors(pt, devices, grad=grad)
        with contextlib.ExitStack() as stack:
            for guard in guards:
                stack.enter_context(entered(pt, guard, included))
            stack.enter_context(C._ExcludeDispatchKeyGuard(their_keyset(dropped | excluded)))
            expected = answer(lambda: twin.theirs(given))
        front = make_front(registry.entry(twin.name), torch.Tensor)
        given = tensors(torch, devices, grad=grad)
        with contextlib.ExitStack() as stack:
            for guard in guards:
                stack.enter_context(entered(torch, guard, our_mask(included - left_out)))
            assert answer(lambda: dispatch(twin.name, None, given)) == expected
            assert answer(lambda: front(given)) == expected


def test_tensors_with_dimensions_on_two_devices_are_refused_here():
    with Twin() as twin:
        for key in ("CPU", "Meta"):
            twin.register(key, through=False, onward=False)
        given = [[lib.ones(2), lib.ones(2, device="meta")] for lib in (torch, pt)]
        assert twin.theirs(given[1]) == "Meta #1"
        with pytest.raises(RuntimeError, match="found at least two devices, cpu and meta"):
            dispatch(twin.name, None, given[0])
