"""Calls that both libraries refuse, a line each."""

from importlib import import_module

import pytest
from refused_words import told

import mindtorch_core as torch


def names(lib):
    """What calls may name: short ways to make tensors, modules' functions, and attention of one head."""
    F = lib.nn.functional

    def attend(q, k, v, *, size=2, heads=1, weight=lib.ones(6, 2), **more):  # noqa: B008
        biases = more.pop("k", None), more.pop("v", None)
        out = lib.ones(2, 2), lib.ones(2)
        return F.multi_head_attention_forward(
            q, k, v, size, heads, weight, lib.ones(6), *biases, False, 0.0, *out, **more
        )

    return {
        "torch": lib,
        "F": F,
        "attend": attend,
        "ones": lib.ones,
        "zeros": lib.zeros,
        "ints": lambda *values: lib.tensor(values),
        "bools": lambda *values: lib.tensor([bool(value) for value in values]),
        "sparse": lambda: lib.sparse_coo_tensor(lib.tensor([[0, 1], [0, 1]]), lib.ones(2)),
    }


def names_of_modules(lib):
    """What calls of modules may name besides: packages by a letter, and an optimizer."""

    def package(name):
        return import_module(f"{lib.__name__}.{name}")

    return names(lib) | {
        "nn": lib.nn,
        "D": package("distributions"),
        "C": package("distributions.constraints"),
        "T": package("distributions.transforms"),
        "O": package("optim"),
        "S": package("optim.lr_scheduler"),
        "averages": package("optim.swa_utils"),
        "data": package("utils.data"),
        "sgd": lambda: lib.optim.SGD([lib.nn.Parameter(lib.ones(2))], 0.1),
    }


def refusals_are(calls, own, names=names):
    """A test that each of some calls raises what PyTorch raises.

    Args:
        calls: lines of those whose words hold PyTorch's.
        own: by call, how our words begin.
        names: what calls may name, of a library.
    """
    pt = pytest.importorskip("torch")
    cases = [(line.strip(), None) for line in calls.strip().splitlines()] + [*own.items()]

    @pytest.mark.parametrize(("call", "words"), cases, ids=[call for call, _ in cases])
    def test(call, words):
        kind, theirs = told(pt, call, names)
        ours = told(torch, call, names)
        assert ours[0] == kind
        if words is None:
            assert theirs.rstrip(".").strip() in ours[1]
        else:
            assert ours[1].startswith(words)

    return test
