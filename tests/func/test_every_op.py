"""`vmap` of every op on its samples, against a loop over them."""

import warnings
from dataclasses import replace

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.func.rules import REFUSED
from mindtorch_core.func.vmap import vmap
from mindtorch_core.opdefs.packets import front
from mindtorch_core.testing.samples import samples
from mindtorch_core.utils._pytree import tree_flatten, tree_unflatten

registry.on_demand.define_all()
Tensor = torch.Tensor
# What a sample's memory holds beyond its elements differs from that of the stacked one; results that are None.
LEFT_OUT = {
    "as_strided",
    "as_strided_copy",
    "masked_scatter_",
    "_thnn_fused_lstm_cell_backward_impl",
}


def ops():
    for entry in registry:
        d = entry.definition
        if (
            d is None
            or not entry.name.startswith("aten::")
            or d.traits.random
            or d.traits.undefined
        ):
            continue
        if (
            d.name not in LEFT_OUT | REFUSED
            and not d.name.startswith("_foreach")
            and "fused" not in d.name
        ):
            yield d


def build(sample, number):
    """Arguments of one sample, as leaves and their structure."""
    changed = sample.changed(lambda recipe: replace(recipe, seed=recipe.seed + 77 * number))
    return tree_flatten(changed.build("cpu"))


def stacked(results):
    first = results[0]
    if isinstance(first, Tensor):
        return torch.stack(results)
    return [stacked([r[i] for r in results]) for i in range(len(first))]


def same(a, b):
    if not isinstance(a, Tensor):
        return len(a) == len(b) and all(map(same, a, b))
    if a.dtype is not b.dtype or a.shape != b.shape:
        return False
    if a.dtype.is_floating_point or a.dtype.is_complex:
        return torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
    return torch.equal(a, b)


@pytest.mark.parametrize("d", list(ops()), ids=lambda d: d.name)
@pytest.mark.parametrize("batched", ["all", "first"])
def test_a_loop_gives_the_same(d, batched):
    op = front(registry.entry(f"aten::{d.name}"))
    for sample in samples(d)[:3]:
        sets = [build(sample, number) for number in range(3)]
        spec = sets[0][1]
        places = [i for i, v in enumerate(sets[0][0]) if isinstance(v, Tensor)]
        if batched == "first":
            places = places[:1] if len(places) > 1 else []
        if not places:
            continue
        merged = [
            [s[0][i] if i in places else v for i, v in enumerate(build(sample, 0)[0])] for s in sets
        ]
        columns = [torch.stack([leaves[i] for leaves in merged]) for i in places]
        try:
            expected = stacked([call(op, leaves, spec) for leaves in merged])
        except Exception:  # noqa: BLE001 (there is nothing to compare with: shapes differ, or it fails)
            continue

        def one(*given, places=places, spec=spec, sample=sample):
            leaves = build(sample, 0)[0]
            for i, value in zip(places, given, strict=True):
                leaves[i] = value
            return call(op, leaves, spec)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = vmap(one)(*columns)
            except RuntimeError as error:
                if "were not batched" in str(error):  # running statistics, as in PyTorch
                    continue
                if batched == "first" or "vmap" not in str(error):
                    raise
                continue
        assert same(found, expected), sample.name


def call(op, leaves, spec):
    args, kwargs = tree_unflatten(leaves, spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return op(*args, **kwargs)
