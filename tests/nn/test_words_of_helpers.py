"""What helpers of modules refuse: PyTorch's type of error and its words, a program a line."""

from importlib import import_module

import pytest
from refused_words import words_are

pt = pytest.importorskip("torch")


def names(lib):
    """What programs may name."""
    nn, utils = lib.nn, lib.nn.utils

    def made(forward, inverse=None):
        members = {"forward": lambda self, *given: forward(*given)}
        if inverse is not None:
            members["right_inverse"] = lambda self, value: inverse(value)
        return type("Made", (nn.Module,), members)()

    def with_one(forward, inverse=None):
        layer = nn.Linear(2, 2)
        return utils.parametrize.register_parametrization(layer, "weight", made(forward, inverse))

    def at_first(then, first=lambda value: value):
        turns = iter((first, then))
        return lambda value: next(turns)(value)

    def named(method, name, kind=None):
        method._tensor_name, method.PRUNING_TYPE = name, kind or method.PRUNING_TYPE
        return method

    def graded(layer, value):
        for p in layer.parameters():
            p.grad = lib.full_like(p, value)
        return layer

    def tied(layer):
        layer.again = layer.weight
        return layer

    return {
        "t": lib, "nn": nn, "U": utils, "P": utils.parametrize, "R": utils.rnn, "call": lib.func.functional_call,
        "prune": import_module(f"{lib.__name__}.nn.utils.prune"), "made": made, "with_one": with_one,
        "C": import_module(f"{lib.__name__}.utils.checkpoint"), "at_first": at_first, "named": named, "graded": graded, "tied": tied,
    }  # fmt: skip


PROGRAMS = """
    U.clip_grad_norm_(graded(nn.Linear(2, 2), float("nan")).parameters(), 1.0, error_if_nonfinite=True)
    U.get_total_norm([t.tensor([float("inf")])], 1.0, True)
    U.vector_to_parameters([1.0], [t.ones(1)])
    U.fuse_conv_bn_eval(nn.Conv1d(1, 1, 1), nn.BatchNorm1d(1).eval())
    U.fuse_conv_bn_eval(nn.Conv1d(1, 1, 1).eval(), nn.BatchNorm1d(1))
    U.fuse_conv_bn_eval(nn.Conv1d(1, 1, 1).eval(), nn.BatchNorm1d(1, track_running_stats=False).eval())
    U.fuse_linear_bn_eval(nn.Linear(1, 2), nn.BatchNorm1d(2).eval())
    U.fuse_linear_bn_eval(nn.Linear(1, 2).eval(), nn.BatchNorm1d(3).eval())
    U.skip_init(int)
    U.skip_init(t.ones)
    U.skip_init(nn.ReLU)
    U.parametrizations.orthogonal(nn.Linear(2, 2, dtype=t.complex64), orthogonal_map="householder")
    U.parametrizations.orthogonal(nn.Linear(2, 2), "none")
    U.parametrizations.orthogonal(nn.Linear(2, 2), "bias")
    U.parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="other")
    setattr(U.parametrizations.orthogonal(nn.Linear(2, 2)), "weight", t.ones(3, 3))
    setattr(U.parametrizations.orthogonal(nn.Linear(2, 2), use_trivialization=False), "weight", t.eye(2))
    U.parametrizations.spectral_norm(nn.Linear(2, 2), "none")
    U.parametrizations.spectral_norm(nn.Linear(2, 2), dim=2)
    U.parametrizations.spectral_norm(nn.Linear(2, 2), dim=-3)
    U.parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
    U.parametrizations.spectral_norm(nn.Linear(2, 2), "bias", dim=1)
    P.register_parametrization(nn.Linear(2, 2), "weight", made(lambda x: 3))
    P.register_parametrization(nn.Linear(2, 2), "weight", made(lambda x: x.double()))
    P.register_parametrization(nn.Linear(2, 2), "weight", made(lambda x: x[0]))
    P.register_parametrization(nn.Linear(2, 2), "none", made(lambda x: x))
    P.register_parametrization(nn.Linear(2, 2), "weight", made(lambda x: x, lambda x: 3))
    P.register_parametrization(nn.Linear(2, 2), "weight", made(lambda x: x, lambda x: x.double()))
    P.register_parametrization(nn.Linear(2, 2), "weight", made(lambda x: x, lambda x: x.to("meta")))
    P.register_parametrization(nn.Linear(2, 2), "weight", made(lambda x, y: x, lambda x: (x, 3)))
    P.ParametrizationList([], t.ones(2))
    P.register_parametrization(with_one(lambda x: x), "weight", made(lambda x: 3))
    P.register_parametrization(with_one(lambda x: x), "weight", made(lambda x: x.double()))
    P.register_parametrization(with_one(lambda x: x), "weight", made(lambda x: x[0]))
    P.register_parametrization(with_one(lambda x: x), "weight", made(lambda x: x, lambda x: 3))
    P.register_parametrization(with_one(lambda x: x), "weight", made(lambda x: x, lambda x: x.double()))
    P.register_parametrization(with_one(lambda x: x), "weight", made(lambda x: x, lambda x: x[0]))
    P.remove_parametrizations(nn.Linear(2, 2), "weight")
    P.remove_parametrizations(with_one(lambda x: x), "bias")
    P.remove_parametrizations(with_one(lambda x, y: x, lambda x: (x, x)), "weight", leave_parametrized=False)
    setattr(with_one(lambda x: x), "weight", t.ones(2, 2))
    setattr(with_one(lambda x: x, at_first(lambda x: 3)), "weight", t.ones(2, 2))
    setattr(with_one(lambda x: x, at_first(lambda x: x.double())), "weight", t.ones(2, 2))
    setattr(with_one(lambda x, y: x, at_first(lambda x: 3, lambda x: (x, x))), "weight", t.ones(2, 2))
    setattr(with_one(lambda x, y: x, at_first(lambda x: (x,), lambda x: (x, x))), "weight", t.ones(2, 2))
    setattr(with_one(lambda x, y: x, at_first(lambda x: (x, x.double()), lambda x: (x, x))), "weight", t.ones(2, 2))
    prune.l1_unstructured(nn.Linear(2, 2), "weight", 1, t.ones(3))
    prune.PruningContainer().add_pruning_method(3)
    prune.PruningContainer(named(prune.Identity(), "a", "other")).compute_mask(t.ones(2), t.ones(2))
    prune.PruningContainer(named(prune.Identity(), "a", "structured")).compute_mask(t.ones(2), t.ones(2))
    prune.PruningContainer(named(prune.RandomStructured(1, 5), "a")).compute_mask(t.ones(2, 2), t.ones(2, 2))
    prune.PruningContainer(named(prune.RandomStructured(1, -3), "a")).compute_mask(t.ones(2, 2), t.ones(2, 2))
    prune.random_unstructured(nn.Linear(2, 2), "weight", None)
    prune.random_unstructured(nn.Linear(2, 2), "weight", -1)
    prune.random_unstructured(nn.Linear(2, 2), "weight", 1.5)
    prune.random_unstructured(nn.Linear(2, 2), "weight", 5)
    prune.random_structured(nn.Linear(2, 2), "bias", 1, 0)
    prune.random_structured(nn.Linear(2, 2), "weight", 1, 2)
    prune.random_structured(nn.Linear(2, 2), "weight", 3, 0)
    prune.ln_structured(nn.Linear(2, 2), "bias", 1, 2, 0)
    prune.custom_from_mask(nn.Linear(2, 2), "weight", t.ones(3))
    prune.global_unstructured(3, prune.L1Unstructured, amount=1)
    prune.global_unstructured([(nn.Linear(2, 2), "weight")], prune.L1Unstructured, importance_scores=3, amount=1)
    prune.global_unstructured([(nn.Linear(2, 2), "weight")], prune.LnStructured, amount=1, n=1)
    prune.remove(nn.Linear(2, 2), "weight")
    prune.remove(prune.identity(nn.Linear(2, 2), "bias"), "weight")
    R.PackedSequence(t.ones(2))
    R.PackedSequence([t.ones(2)])
    R.pad_packed_sequence(R.pack_sequence([t.ones(2), t.ones(1)]), total_length=1)
    R.pad_sequence(3)
    R.pad_sequence([])
    R.pad_sequence([t.ones(1), 3])
    R.pad_sequence([t.ones(1)], padding_side="up")
    R.pack_sequence([])
    R.pack_sequence([t.ones(1), t.ones(2)])
    R.pack_padded_sequence(t.ones(2, 2), [0, 0])
    R.pack_padded_sequence(t.ones(2, 2), [2])
    R.pack_padded_sequence(t.ones(2, 2), [1, 2])
    U.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
    U.spectral_norm(U.spectral_norm(nn.Linear(2, 2)))
    U.spectral_norm(nn.Linear(2, 2, bias=False), "bias")
    U.spectral_norm(nn.LazyLinear(2))
    U.remove_spectral_norm(nn.Linear(2, 2))
    U.remove_spectral_norm(U.spectral_norm(nn.Linear(2, 2)), "bias")
    U.weight_norm(U.weight_norm(nn.Linear(2, 2)))
    U.weight_norm(nn.LazyLinear(2))
    U.remove_weight_norm(nn.Linear(2, 2))
    U.remove_weight_norm(U.weight_norm(nn.Linear(2, 2)), "bias")
    call(nn.DataParallel(nn.Linear(2, 2)), {}, t.ones(1, 2))
    call(nn.Linear(2, 2), {"weight": 3}, t.ones(1, 2))
    call(nn.Linear(2, 2), {"": t.ones(2)}, t.ones(1, 2))
    call(nn.Linear(2, 2), {"in_features": t.ones(2)}, t.ones(1, 2))
    call(nn.Linear(2, 2), {"a.b": t.ones(2)}, t.ones(1, 2))
    call(tied(nn.Linear(2, 2)), {"weight": t.ones(2, 2), "again": t.zeros(2, 2)}, t.ones(1, 2))
    call(nn.Linear(2, 2), {}, t.ones(1, 2), strict=True)
    call(nn.Linear(2, 2), {"other": t.ones(2)}, t.ones(1, 2), strict=True)
    C.checkpoint(print, t.ones(1), use_reentrant=True, other=3)
    C.checkpoint(print, t.ones(1), use_reentrant=True, debug=True)
    C.checkpoint(print, t.ones(1), use_reentrant=True, context_fn=3)
    C.checkpoint(print, t.ones(1, requires_grad=True), use_reentrant=False, debug=True, context_fn=print)
    C.checkpoint(t.detach, t.ones(1, requires_grad=True), use_reentrant=True).sum().backward()
    t.autograd.grad(C.checkpoint(t.exp, x := t.ones(1, requires_grad=True), use_reentrant=True), x)
    C.checkpoint_sequential([nn.ReLU()], 1, t.ones(1), other=3)
    C.detach_variable([t.ones(1)])
    C.create_selective_checkpoint_contexts(3)
"""
# Words of our own, and PyTorch's type of error.
OWN = {
    'C.checkpoint(print, t.ones(1), use_reentrant=False, determinism_check="other")':
        "determinism_check should be one of ['default', 'none'] but got other",
    "C.create_selective_checkpoint_contexts([3])":
        "Expected op in `op_list` to be an OpOverload but got: 3 of type <class 'int'>.",
    'R.PackedSequence(t.ones(2), t.ones(2, device="meta"))':
        "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They "
        "should be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn.",
    'setattr(with_one(lambda x, y: x, at_first(lambda x: (x, 3), lambda x: (x, x))), "weight", t.ones(2, 2))':
        "'right_inverse' must return a sequence of tensors. Got element 1 of type int.",
    "with_one(lambda x: x).__getstate__()":
        "Serialization of parametrized modules is only supported through state_dict().",
    'prune.ln_structured(nn.Linear(2, 2), "weight", 1, 2, -3)':
        "Dimension out of range (expected to be in range of [-2, 1], but got -3)",
}  # fmt: skip

test_words = words_are(PROGRAMS, OWN, names)
