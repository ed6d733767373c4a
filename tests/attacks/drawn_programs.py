"""Draws whole programs. A run of what is drawn so far says which operands fit together."""

import math
import random
import warnings

from known_differences import Operands, differs
from whole_programs import Helpers, settled, step

SHAPES = ["(4, 6)", "(6,)", "(4, 1)", "(2, 3, 4)", "(3, 4)", "()", "(4, 4)", "(0, 3)"]
LARGE = ["(300, 500)", "(500,)", "(300, 1)", "(2, 150, 500)"]
MOST = 1_000_000  # elements of an operand: a row and a column of more make what no machine holds
FLOATS = ["torch.float32", "torch.float64"]
OTHERS = ["torch.int64", "torch.int32", "torch.uint8", "torch.bool", "torch.bfloat16",
          "torch.float16", "torch.complex64"]  # fmt: skip

# {x}, {y}, {z}: operands of shapes that broadcast; {n}: a new name. Whole numbers stay small, so that
# all sums are exact; what is smooth has no jumps, nor are there any at whole numbers, so that rounding
# stays rounding.
EITHER = """
{n} = {x} + {y} | {n} = {x} - {y} | {n} = -{x} | {n} = {x}.clone() | {n} = torch.maximum({x}, {y})
{n} = torch.where({x} > 0.01, {x}, {y}) | {n} = {x}.relu() | {n} = {x}.abs() | {n} = {x}.clamp(-2, 2)
{n} = {x} * 2 | {n} = 1 - {x} | {n} = torch.cat([{x}, {x}]) | {n} = torch.stack([{x}, {x}], -1)
{n} = {x}.flip(0) | {n} = {x}.roll(1) | {n} = {x}.masked_fill({x} > 0.01, 1) | {n} = {x}.tril()
{n} = {x}.sum() / 8 | {n} = {x}.sum(0).clamp(-4, 4) | {n} = {x}.amax(-1, keepdim=True)
{n} = {x}.sum(-1, keepdim=True).clamp(-4, 4) | {n} = {x} - {x}.amin(-1, keepdim=True)
{n} = torch.add({x}, {y}, alpha=2) | {n} = torch.zeros_like({x}) + {y} | {n} = {x}.new_ones(6)
{n} = torch.addcmul({x}, {y}, {x}).clamp(-4, 4) | {n} = {x}.to(torch.float64) | {n} = {x}.contiguous()
{n} = torch.meshgrid({x}.flatten()[:3], {x}.flatten()[:2], indexing="ij")[0]
{n} = ({x} * {y}).clamp(-4, 4) | {n} = {x}.lerp({y}, 0.5) | {n} = {x}.cumsum(-1).clamp(-4, 4)
{n} = {x}.index_select(0, torch.tensor([0, 0])) | {n} = {x}[[0, -1]] | {n} = {x}[torch.tensor([1, 0])]
{n} = torch.matmul({x}, {x}.mT).clamp(-4, 4) | {n} = F.pad({x}, (1, 0)) | {n} = {x}.repeat(2, 1)
{n} = {x}.gather(-1, torch.zeros_like({x}, dtype=torch.int64)) | {n} = {x}.to(torch.float32)
"""
EXACT = """
{n} = {x} < {y} | {n} = {x} == {y} | {n} = torch.sign({x}) | {n} = {x}.detach().to(torch.int64)
{n} = {x}.detach().to(torch.bfloat16) | {n} = {x}.detach().half() | {n} = {x}.bool()
{n} = {x}.detach().to(torch.int32) // 2 | {n}, _ = {x}.sort(-1, stable=True) | {n} = {x}.any(-1)
{n} = {x}.nonzero() | {n} = {x}[{x} > 0] | {n} = {x}.count_nonzero() | {n} = torch.logical_xor({x}, {y})
{n} = {x}.floor() | {n} = ({x} > 0) & ({y} > 0) | {n} = {x}.detach().to(torch.uint8) | {n} = {x}.unique()
{n} = {x}.detach().to(torch.complex64) | {n} = torch.complex({x}, {x}) | {n} = {x}.conj() + {y}
{n} = {x}.detach().remainder(3) | {n} = torch.bincount({x}.detach().abs().flatten().long().clamp(max=99))
{n} = {x}.is_floating_point() | {n} = torch.equal({x}, {y})
"""
SMOOTH = """
{n} = {x}.clamp(-3, 3).exp() | {n} = {x}.tanh() | {n} = {x}.sigmoid() | {n} = {x} * 0.3 | {n} = {x} / 3
{n} = {x}.softmax(-1) | {n} = {x} - {x}.mean(-1, keepdim=True) | {n} = ({x} * {x} + 1).sqrt()
{n} = {x} * {y}.tanh() | {n} = {x} / ({y} * {y} + 1) | {n} = F.gelu({x}) | {n} = {x}.logsumexp(-1)
{n} = F.layer_norm({x}, {x}.shape[-1:], eps=0.1) | {n} = F.softplus({x}) | {n} = {x}.sin() + {y}.cos()
{n} = torch.matmul({x}, {x}.mT).tanh() | {n} = F.silu({x}) | {n} = {x}.log_softmax(-1) | {n} = {x}.erf()
{n} = {x}.var(-1) | {n} = torch.linalg.vector_norm({x}, dim=-1) | {n} = F.mse_loss({x}, {y})
{n} = torch.atan2({x}, {y} * {y} + 1) | {n} = torch.expm1({x}.clamp(-2, 2)) | {n} = {x}.cumsum(0).tanh()
"""
VIEWS = """
{n} = {x}.t() | {n} = {x}.mT | {n} = {x}[1:] | {n} = {x}[..., ::2] | {n} = {x}.unsqueeze(0)
{n} = {x}.reshape(-1) | {n} = {x}.expand(2, *{x}.shape) | {n} = {x}[..., 0] | {n} = {x}.detach()
{n} = {x}.view(-1) | {n} = {x}.diagonal() | {n} = {x}.movedim(0, -1) | {n} = {x}.narrow(0, 0, 2)
{n}, *_ = {x}.split(2) | *_, {n} = {x}.unbind() | {n}, *_ = {x}.chunk(2, -1) | {n} = {x}.data
*_, {n} = {x}.tensor_split(2) | {n} = {x}.squeeze() | {n} = {x}.unfold(-1, 2, 2) | {n} = {x}.flatten()
{n} = {x}.real | {n} = {x}.imag | {n} = torch.view_as_real({x}) | {n} = {x}.view_as({x}) | {n} = {x}[None]
{n} = {x}.select(0, -1) | {n} = {x}.as_strided((2,), (1,)) | {n} = {x}.view(torch.int32)
"""
WRITES = """
{x}.add_({y}).clamp_(-4, 4) | {x}.mul_(0.5) | {x}.neg_() | {x}.copy_({y}) | {x}.zero_() | {x}.fill_(2)
{x}[0] = 1 | {x}[..., 0] = {y}[..., 0] | {x}[{x} > 0.01] = 1 | {x} += 1 | {x}.relu_() | {x}[1:] = {y}
{x}.t_() | {x}.unsqueeze_(0) | {x}.detach_() | {x}.requires_grad_() | {x}.resize_(0) | {x}.resize_(5, 7).zero_() | {x}.squeeze_()
{x}.data = {y} | {x}.data = {x}.detach().clone() | {x}.set_({y}) | {x}.masked_fill_({x} > 1.01, 0)
{x}.index_add_(0, torch.tensor([0]), {x}[:1].detach()) | {x}.transpose_(0, -1) | {x}.clamp_(-1, 1)
{x}.index_put_((torch.tensor([0]),), torch.ones((), dtype={x}.dtype)) | {x}.lerp_({y}, 0.5)
{x}.split(2)[0].mul_(2).clamp_(-4, 4) | {x}.unbind()[0].zero_() | {x}.detach().add_(1) | {x}.data.mul_(0.5)
{x}.lt_({y}) | {x}.addcmul_({y}, {y}).clamp_(-4, 4) | {x}.swapaxes_(0, -1) | {x}.fill_diagonal_(1)
torch.add({x}, {y}, out={z}) | torch.clamp({x} + {y}, -1, 1, out={z}) | torch.sub({y}, {x}, out={z})
{n} = torch.sum({x}, -1, out=torch.empty(0, dtype={x}.dtype, device={x}.device)) | torch.maximum({x}, {y}, out={z})
{n} = torch.cat([{x}, {x}], out=torch.empty(0, dtype={x}.dtype, device={x}.device)) | torch.neg({x} - {y}, out={z})
torch.mul({x}, 0.5, out={x}) | torch.neg({x}, out={x})
{x}.random_(0, 1) | {x}.add_({x})
"""
GRADIENTS = """
backward({x}.sum()) | backward({x}.sum(), retain_graph=True) | backward(({x} * {x}).sum()) | update()
note(torch.autograd.grad({x}.sum(), [{leaf}], allow_unused=True, retain_graph=True))
{n}, = torch.autograd.grad(({x} * {x}).sum(), [{leaf}], create_graph=True)
{x}.register_hook(lambda g: g * 0.5) | {x}.retain_grad() | {x}.register_hook(lambda g: None)
{x}.grad_fn.register_hook(lambda made, got: None) | {x}.grad_fn.register_prehook(lambda g: g)
{leaf}.register_post_accumulate_grad_hook(lambda t: None) | {leaf}.grad = None | {leaf}.grad.zero_()
{n} = checkpoint(lambda s: (s * 2).relu() * s, {x}) | {n} = squared({x}.clamp(-1, 1))
{n} = checkpoint(lambda s, u: (s + u).clamp(-2, 2) * u, {x}, {y}) | {x}.requires_grad_(False)
{n} = torch.autograd.functional.vjp(lambda s: (s * 2).sum(), {x}.detach())[1]
"""
BLOCKS = """
enter(torch.no_grad()) | enter(torch.enable_grad()) | enter(torch.inference_mode()) | leave() | leave()
enter(saving()) | enter(pipeline()) | enter(pipeline(max_ops=2)) | flush() | leave() | leave() | leave()
leave(ValueError("its own")) | enter(pipeline(trace=True)) | enter(torch.set_grad_enabled(False))
"""
LOOKS = """
note({x}.sum().item()) | note({x}.tolist()) | note({x}) | note(bool({x}.any())) | note({x}.stride())
note(torch.is_grad_enabled()) | note({x}.grad_fn is None) | note({x}.is_inference())
note({x}.storage_offset()) | del {x} | note(str({x}.dtype)) | note({x}._is_view()) | {n} = {x}.numpy().sum()
raise ValueError("its own") | {x}.view(7, 7) | {x}.add_(torch.ones(7, 7)) | torch.stack([{x}, {y}[0]])
"""
PLACES = """
{n} = {x}.to(D1, copy=True) | {n} = {x}.to(D2, copy=True) | {n} = {x}.to("cpu", copy=True)
{n} = {x}.to("meta") | {x}.copy_({y}.to(D1)) | {n} = torch.ones(4, 6, device=D1) | {n} = {x}.to("meta") + 1
{n} = torch.arange(6., device=D2) | {n} = {x}.to(D1) + {y}.to(D1) | {n} = {x}.to(D1, copy=True)[0]
{n} = {x}.to(D1).to(D2).to("cpu", copy=True) | {n} = {x}.to(D2, torch.float64, copy=True)
"""


def table(*texts):
    return [line.strip() for text in texts for row in text.split("\n") for line in row.split(" | ")
            if line.strip()]  # fmt: skip


KINDS = {True: table(EITHER, EXACT), False: table(EITHER, SMOOTH)}
WEIGHTS = [("value", 8), ("view", 4), ("write", 4), ("gradient", 3), ("block", 3), ("look", 1)]
TABLES = {"view": table(VIEWS), "write": table(WRITES), "gradient": table(GRADIENTS),
          "block": table(BLOCKS), "look": table(LOOKS), "place": table(PLACES)}  # fmt: skip
POSITIONS = ("tensor([", "[[0, -1]]")  # of a first dimension of two elements at least


class Drawer:
    """Draws a program.

    Args:
        seed: of the choices.
        lib: what runs it while it is drawn.
        devices: ``D1`` and ``D2``.
        common: whether to leave out where we differ from PyTorch on purpose: its views that are made
            without gradients require grad as their bases do, and its types in ``out=`` are one.
    """

    def __init__(self, seed, lib, devices, *, common=False):
        self.common = common
        self.random = random.Random(seed)
        self.exact = self.random.random() < 0.6
        self.large = self.random.random() < 0.02
        self.lib = lib
        helpers = Helpers(lib, deferred=False, devices=devices)
        self.space = helpers.names()
        self.own = set(self.space)
        self.blocks = helpers.blocks
        self.several = self.random.random() < 0.3
        self.count = 0
        self.lines = []
        self.alive = []  # names, the newest last
        self.leaves = []
        self.quiet = set()  # what was made while nothing was recorded

    def draw(self):
        """The lines, and whether all numbers stay whole."""
        shapes = LARGE if self.large else SHAPES
        for seed in range(self.random.randint(2, 4)):
            others = OTHERS if self.exact and self.random.random() < 0.4 else FLOATS
            dtype = self.random.choice(others)
            trains = dtype in FLOATS and self.random.random() < 0.6
            name = self.name()
            call = "leaf" if trains else "given"
            self.add(f"{name} = {call}({seed}, {self.random.choice(shapes)}, {dtype})")
            if trains:
                self.leaves.append(name)
        for _ in range(self.random.randint(3, 8 if self.large else 28)):
            self.add(self.line())
        while self.blocks:
            self.add("leave()")
        return self.lines, self.exact

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def line(self):
        for _ in range(50):
            line = self.candidate()
            if line is not None:
                return line
        return "note(0)"

    def candidate(self):
        """A line, or None where PyTorch's differs."""
        kinds, weights = zip(*WEIGHTS, ("place", 3 if self.several else 0), strict=True)
        kind = self.random.choices(kinds, weights)[0]
        template = self.random.choice(KINDS[self.exact] if kind == "value" else TABLES[kind])
        x = self.operand()
        if "matmul" in template and getattr(self.space.get(x), "numel", int)() > 1_000:
            x = self.leaves[0] if self.leaves else "v1"  # what it makes grows with the square
        if any(index in template for index in POSITIONS) and self.fails_later(x):
            return None
        y, z = self.fitting(x), "torch.empty(0)"
        if "{z}" in template:
            z = self.target(x, y)
        if self.common and self.differs(template, x, y, z):
            return None
        leaf = self.random.choice(self.leaves or [x])
        recording = self.recording()
        if self.common and kind == "write" and recording and x in self.quiet:
            return None  # PyTorch's views that were made without gradients must not be written with them
        if self.common and kind in ("value", "view") and not recording:
            x, y = (f"{v}.detach()" for v in (x, y))
        return template.format(x=x, y=y, z=z, leaf=leaf, n=self.name())

    def fails_later(self, x):
        """Whether positions may not be there, which an NPU finds late: what its kernel leaves is left open."""
        t = self.space.get(x)
        on_npu = isinstance(t, self.lib.Tensor) and t.device.type == "npu"
        return on_npu and tuple(t.shape[:1]) < (2,)

    def recording(self):
        return self.lib.is_grad_enabled() and not self.lib.is_inference_mode_enabled()

    def differs(self, template, x, y, z):
        held = [self.space.get(n) if part in template else None for n, part in
                ((x, "{x}"), (y, "{y}"))]  # fmt: skip
        if held[0] is None:
            return False
        out = self.space.get(z, held[0]) if "{z}" in template else None
        return differs(template, Operands(*held, out))

    def target(self, x, y):
        """A tensor for ``out=`` that has the result's shape and nothing to do with the operands."""
        held = [self.space.get(n) for n in (x, y)]
        if None in held or held[0].device != held[1].device or held[0].is_meta:
            return "torch.empty(0)"
        wanted = torch_shape(self.lib, held)
        for name in reversed(self.alive):
            t = self.space[name]
            if (t.shape, t.dtype, t.device) == (wanted, held[0].dtype, held[0].device) and not any(
                t.untyped_storage() is h.untyped_storage() for h in held
            ):
                return name
        return f"torch.empty(0, dtype={x}.dtype, device={x}.device)"

    def operand(self):
        near = self.alive[-6:] if self.random.random() < 0.6 else self.alive
        return self.random.choice(near or ["v1"])

    def fitting(self, name):
        """A tensor of a shape that broadcasts with another's, if there is one."""
        wanted = self.space.get(name)
        for _ in range(6):
            other = self.operand()
            if fits(self.space.get(other), wanted) and self.moderate(other, name):
                return other
        return name

    def moderate(self, *names):
        """Whether what is made of tensors together has no more elements than a machine takes."""
        return math.prod(torch_shape(self.lib, [self.space[n] for n in names])) < MOST

    def add(self, line):
        if step(line, self.space) != "IndexError":  # those depend on values
            self.lines.append(line)
        held = {n for n in self.space if n not in self.own and self.is_operand(self.space[n])}
        fresh = sorted(held - set(self.alive), key=lambda n: (len(n), n))
        if not self.recording():
            self.quiet.update(fresh)
        self.alive = [n for n in self.alive if n in held] + fresh

    def is_operand(self, value):
        return isinstance(value, self.lib.Tensor) and value.numel() < MOST


def torch_shape(lib, tensors):
    try:
        return lib.broadcast_shapes(*(t.shape for t in tensors))
    except RuntimeError:
        return None


def fits(a, b):
    if a is None or b is None or a.device != b.device:
        return False
    pairs = zip(reversed(a.shape), reversed(b.shape), strict=False)
    return all(m == n or 1 in (m, n) for m, n in pairs)


def drawn(seed, lib, devices=("cpu", "cpu"), *, common=False):
    """A program's lines, and whether its numbers stay whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Drawer(seed, lib, devices, common=common).draw()
        finally:
            settled(lib, devices)
