"""Which ops' gradients are compared with PyTorch's on the samples of its OpInfo database."""

import itertools

from checks import COMPLEX, DOUBLE, OPS
from convert import Converter, tensors_in
from counterparts import function_of
from pytorch_samples import making_samples

import mindtorch_core as torch

SAMPLES = 4
# OpInfos of several ops: their samples begin with those of one of these.
SEVERAL = ("nn.functional.interpolate", "nn.functional.pad", "nn.functional.upsample")


def differentiable(op):
    """The dtypes for which an OpInfo's gradients are checked."""
    taken = op.supported_backward_dtypes("cpu") if op.supports_autograd else ()
    return [d for d in (DOUBLE, COMPLEX) if d in taken]


def nodes_of(tensors):
    """Names of the nodes of all graphs that some tensors are results of."""
    names, seen, todo = set(), set(), [t.grad_fn for t in tensors]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            names.add(node.name())
            todo += [following for following, _ in node.next_functions]
    return names


def calls(op):
    """Arguments and differentiable results of some samples' calls."""
    fn = function_of(op)
    for dtype in differentiable(op):
        found = op.sample_inputs("cpu", dtype, requires_grad=True)
        for sample in itertools.islice(found, None if op.name.startswith(SEVERAL) else SAMPLES):
            try:
                args = Converter("cpu")([sample.input, *sample.args, sample.kwargs])
                made = fn(*args[:-1], **args[-1])
            except Exception:  # noqa: BLE001 (what fails is told by the OpInfo's own test)
                continue
            yield args, [t for t in tensors_in(made, torch.Tensor) if t.requires_grad]


def recorded_nodes(wanted):
    """Names of the nodes that gradients of OpInfos come by.

    Args:
        wanted: names of nodes; those of ops' own gradients are looked for in gradients of
            gradients, where the first pass has not found them.
    """
    first = {}
    with making_samples():
        for name, op in OPS.items():
            if differentiable(op):
                first[name] = set().union(*(nodes_of(outs) for _, outs in calls(op)))
        found = set().union(*first.values())
        for name, nodes in first.items():
            behind = {
                n for n in wanted - found if n.replace("BackwardBackward", "Backward") in nodes
            }
            if behind and OPS[name].supports_gradgrad:
                for args, outs in calls(OPS[name]):
                    found |= nodes_of(_gradients(args, outs))
    return found


def _gradients(args, outs):
    leaves = [t for t in tensors_in(args, torch.Tensor) if t.requires_grad]
    if not leaves or not outs:
        return []
    seeds = [torch.ones_like(t).requires_grad_() for t in outs]
    found = torch.autograd.grad(outs, leaves, seeds, create_graph=True, allow_unused=True)
    return [g for g in found if g is not None]
