"""Where mindtorch differs from PyTorch, as data: what is not drawn for programs that both run.

Each says which lines, for which operands, and why. What is not here and differs is a fault.
"""

from typing import NamedTuple

import mindtorch_core as torch
from mindtorch_core.values.overlap import repeats


class Operands(NamedTuple):
    """What a line is about to be drawn for: ``out`` is where ``out=`` would go, or None."""

    x: object
    y: object
    out: object

    @property
    def inputs(self):
        return [t for t in (self.x, self.y) if isinstance(t, torch.Tensor)]


class Difference(NamedTuple):
    """Lines that hold one of some texts, the operands for which they differ, and the reason."""

    texts: tuple
    when: object
    why: str


def has(dtype):
    return lambda on: any(t.dtype is dtype for t in on.inputs)


def any_input(condition):
    return lambda on: any(map(condition, on.inputs))


def another_dtype(on):
    return on.out is not None and torch.result_type(*(on.inputs * 2)[:2]) != on.out.dtype


def halves_with_complex(on):
    return has(torch.float16)(on) and any(t.is_complex() for t in on.inputs)


def inference_with_recorded(on):
    kinds = {t.is_inference() for t in on.inputs}
    return True in kinds and any(t.requires_grad for t in on.inputs)


def shows_elements_twice(t):
    return repeats(tuple(t.shape), t.stride())


def history_of_whole_numbers(on):
    whole = not on.x.is_floating_point() and not on.x.is_complex()
    return whole and any(t.requires_grad for t in on.inputs)


def one_memory(on):
    x, y = on.x, on.x if on.y is None else on.y
    return x.requires_grad and (x is y or x.untyped_storage() is y.untyped_storage())


def shared(on):
    """Whether another tensor may show the memory: only the drawer knows, so any view counts."""
    return on.x._is_view() or on.x._storage is None or on.x._storage.views is not None


def inside_inference(on):
    return torch.is_inference_mode_enabled()


ANY = ("",)
WRITES = ("{x}.add_", "{x}.copy_", "{x}[1:] =", "{x}[..., 0] =", "{x} += ", "{x}.lerp_", "{x}.addcmul_",
          "{x}.lt_", "{x}.masked_fill_", "{x}.index_put_", "{x}.index_add_")  # fmt: skip

DIFFERENCES = [
    Difference(("register_hook(", "retain_grad("),
               any_input(lambda t: t._is_view() and (t._version or not t.requires_grad)),
               "PyTorch dies of a hook on a view that was written without gradients, or whose base has "
               "come to require grad"),
    Difference((".abs()",), any_input(lambda t: t.is_complex()), "a root is rounded"),
    Difference(("{x}.data.mul_(",), lambda on: on.x.requires_grad or shared(on),
               "it depends on what ops save whether backward sees what is written behind its back"),
    Difference(("copy_({y}.to(D1))",), any_input(shows_elements_twice),
               "on PyTorch's only device that is a copy to itself, which writes nothing"),
    Difference((".numpy()", "torch.tensor(["), any_input(lambda t: t.device.type != "cpu"),
               "PyTorch's programs have no device but the CPU"),
    Difference(("_({y}", "_(0, torch.tensor([0]), {x}"), one_memory,
               "x.mul_(x) has a gradient here, which PyTorch refuses when it is asked for"),
    Difference(("{x}.lt_(",), lambda on: shared(on) and any(t.requires_grad for t in on.inputs),
               "PyTorch takes earlier views of what a comparison has written for leaves"),
    Difference((".detach_(",), shared,
               "which results of composed ops are views differs; views of what is detached keep histories"),
    Difference(("index_put_(",), lambda on: on.x.is_inference() and not on.x.dim(),
               "of a wrong index and a write of a tensor of inference PyTorch names the index first"),
    Difference((".resize_(", "{x}[1:] ="), any_input(lambda t: t.is_inference()),
               "PyTorch resizes tensors of inference outside of it, and refuses to write even nothing"),
    Difference((".stride()",), any_input(lambda t: not t.numel()), "strides of nothing differ"),
    Difference((".copy_(",), any_input(lambda t: t.device.type != "cpu"),
               "a third party's copy_ refuses shapes in words and types of its own"),
    Difference((".numpy()",), has(torch.bfloat16), "bfloat16 goes to NumPy here, as ml_dtypes has it"),
    Difference(("torch.complex(",), has(torch.float16), "there is no complex32 here"),
    Difference(ANY, halves_with_complex, "there is no complex32 here"),
    Difference(("torch.neg(", "torch.clamp("), another_dtype,
               "PyTorch's refuse an out= of another dtype than the result's, others of its ops cast"),
    Difference(("unique()",), any_input(lambda t: t.requires_grad), "unique has a gradient here"),
    Difference(("masked_fill_(", "index_put_(", "resize_(", "{x}[{x} > 0.01] = 1"),
               any_input(shows_elements_twice),
               "PyTorch warns where elements that are one are written, and writes them: refused here"),
    Difference((".set_(", "{x}.data ="), any_input(lambda t: t.requires_grad or t.is_inference()),
               "PyTorch gives a recorded tensor other memory, and a history that does not fit it"),
    Difference((".set_(", "{x}.data ="), inside_inference, "a tensor becomes one of inference here"),
    Difference(("{x}.data =",), shared,
               "views of a tensor that gets other memory stay its views in PyTorch, and require grad with it"),
    Difference((".requires_grad_(",), shared, "PyTorch's views of a leaf require grad as soon as it does"),
    Difference((".t_()", "unsqueeze_(", "squeeze_(", "transpose_(", "swapaxes_("),
               any_input(lambda t: t.requires_grad or t.is_inference()),
               "PyTorch counts changes of shape as writes, and those that it refuses it has made"),
    Difference((".detach_(", ".resize_("), inside_inference,
               "in inference mode PyTorch's detach_ does nothing, and its resize_ takes leaves"),
    Difference(('"meta"',), lambda on: True,
               "on meta PyTorch checks less: devices of indices, dtypes, whether there is data"),
    Difference((".view(torch.int32)",), lambda on: True,
               "numbers made of bits overflow, and PyTorch's autograd does not know such views"),
    Difference(("index_add_(",), lambda on: tuple(on.x.shape[:1]) == (1,),
               "PyTorch refuses to add a tensor to itself by indices, even element by element"),
    Difference((".data", ".detach()"), any_input(lambda t: t.is_inference()),
               "what is made of a tensor of inference outside is one as well, here"),
    Difference(ANY, inference_with_recorded, "which operands are saved for backward differs"),
    Difference(("matmul(",), has(torch.bool), "products of booleans are refused, also of none"),
    Difference((".gather(",), any_input(lambda t: t.requires_grad),
               "PyTorch saves what is gathered from, of which its gradient takes the shape only"),
    Difference(("checkpoint(",), any_input(lambda t: t.is_inference()),
               "PyTorch's checkpoint saves its inputs, even where nothing requires grad"),
    Difference(WRITES, history_of_whole_numbers, "PyTorch records what is written into whole numbers"),
    Difference(("as_strided(",), any_input(lambda t: t.numel() < 2),
               "how much memory lies behind a single number differs"),
    Difference(("amin(", "amax("), any_input(lambda t: t.is_complex() and not t.numel()),
               "PyTorch refuses extremes of complex numbers only where there are some"),
    Difference(("is_inference", "_is_view()"), lambda on: True,
               "PyTorch's composed ops mark other results than ours"),
    Difference(("_({y}", "] = {y}", "+= {y}"),
               lambda on: len(on.inputs) == 2 and on.x is not on.y and on.x.untyped_storage() is on.y.untyped_storage(),
               "what is read while it is written is undefined in PyTorch where it does not refuse"),
]  # fmt: skip


def differs(template, operands):
    """Whether a line is one of those, for its operands."""
    return any(
        any(text in template for text in each.texts) and each.when(operands) for each in DIFFERENCES
    )
