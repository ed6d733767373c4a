"""Draws functions of tensors, and arguments for them that differ from call to call.

The same function meets arguments of other shapes, dtypes, strides, in other memory, of other histories, under
other modes; what was learned of earlier calls must not show.
"""

import contextlib
import random

from drawn_programs import table
from whole_programs import plain

# {x}, {y}: values so far; {n}: a new name. `a`, `b` are arguments, `w` is a weight that trains.
VALUES = table("""
{n} = {x} + {y} | {n} = {x} - {y} | {n} = {x} * {y} | {n} = {x} / (y2 + {y} * {y}) | {n} = -{x} | {n} = {x}.abs()
{n} = {x} * 0.5 + 1 | {n} = {x}.tanh() | {n} = {x}.sigmoid() | {n} = {x}.clamp(-2, 2).exp() | {n} = {x}.relu()
{n} = torch.where({x} > {y}, {x}, {y}) | {n} = torch.maximum({x}, {y}) | {n} = {x}.clamp(-1, 1) | {n} = {x} ** 2
{n} = ({x} > 0).to({y}.dtype) | {n} = {x}.softmax(-1) | {n} = {x} - {x}.mean(-1, keepdim=True) | {n} = {x}.sin()
{n} = F.layer_norm({x}, {x}.shape[-1:]) | {n} = F.gelu({x}) | {n} = {x}.sum(-1, keepdim=True).clamp(-4, 4)
{n} = {x}.amax(-1, keepdim=True) | {n} = {x}.sum(0).clamp(-4, 4) | {n} = {x}.var(-1, keepdim=True) | {n} = {x}.lerp({y}, 0.25)
{n} = {x}.logsumexp(-1, keepdim=True) | {n} = torch.addcmul({x}, {y}, {y}, value=0.5).clamp(-3, 3) | {n} = {x}.float()
{n} = {x}.double() | {n} = {x}.to(torch.bfloat16) | {n} = {x}.to(torch.int32) | {n} = F.silu({x}) | {n} = {x}.amin()
{n} = torch.matmul({x}, {x}.mT).tanh() | {n} = torch.cat([{x}, {y}], -1)[..., ::2] | {n} = {x}.cumsum(-1).tanh()
{n} = torch.stack([{x}, {x} * 2]).sum(0).clamp(-4, 4) | {n} = {x}.flip(-1) | {n} = {x}.masked_fill({y} > 0.5, 1)
{n} = {x} * w | {n} = ({x} + w).tanh() | {n} = {x}.sum().clamp(-4, 4) + {y} | {n} = {x} + k | {n} = {x} * (k / 4)
{n} = F.dropout({x}, 0.5) * 0 | {n} = {x}.mean() | {n} = {x}.argmax(-1) | {n} = {x}.norm(dim=-1, keepdim=True)
{n} = torch.zeros_like({x}) + {y} | {n} = {x}.new_full((), 2) * {y} | {n} = {x}.erf() | {n} = torch.atan2({x}, {y} * {y} + 1)
""")  # fmt: skip
VIEWS = table("""
{n} = {x}[1:] | {n} = {x}[..., ::2] | {n} = {x}.mT | {n} = {x}.unsqueeze(0) | {n} = {x}.reshape(-1) | {n} = {x}[..., 0]
{n} = {x}.expand(2, *{x}.shape) | {n} = {x}.detach() | {n} = {x}[:, :1] | {n} = {x}.flatten() | {n}, _ = {x}.chunk(2, -1)
{n} = {x}.view(-1) | {n} = {x}.diagonal() | {n} = {x}[-1] | {n} = {x}.squeeze() | {n} = {x}.movedim(0, -1)
""")
WRITES = table("""
{x}.add_({y}) | {x}.mul_(0.5) | {x}.copy_({y}) | {x}[0] = 1 | {x}[..., 0] = {y}[..., 0] | {x} += 1 | {x}.zero_()
{x}.clamp_(-1, 1) | {x}.sub_({y}, alpha=0.5) | {x}.neg_() | {x}.relu_() | {x}.mul_({y}).clamp_(-3, 3) | {x}.fill_(k)
{n} = torch.add({x}, {y}, out=torch.empty(0, dtype={x}.dtype)) | torch.mul({x}, 0.5, out={x}) | {x}.lerp_({y}, 0.5)
torch.sub({x}, {y}, out={x}) | {x}[{x} > 0.5] = 0 | {x}.masked_fill_({y} > 1, 0) | {x}.mT.add_(1) | {x}[1:] = {x}[:-1].clone()
torch.neg({x}, out={y}) | {x}.addcmul_({y}, {y}).clamp_(-3, 3) | {x}.data.mul_(0.5) | {x}.squeeze_() | {x}.t_()
""")
GRADIENTS = table("""
{x}.sum().backward() | ({x} * {x}).mean().backward() | {n}, = torch.autograd.grad({x}.square().sum(), [w], retain_graph=True)
w.grad = None | step() | {x}.register_hook(lambda g: g * 0.5)
""")  # fmt: skip
LOOKS = table(
    "{n} = {x}.sum().item() | {n} = {x}.shape[0] * {y} | {n} = {x}.tolist() | {n} = bool(({x} > 0).any())"
)
SHAPES = [(4, 6), (6,), (1, 6), (4, 1), (3, 6), (4, 4), (6, 6), (2, 4, 6), (), (0, 6), (1, 1)]
LARGE = [(64, 40), (40,), (1, 40), (64, 1), (40, 40), (50, 40)]


def drawn_function(chance, *, looks=False, trains=True):
    """The lines of a body, which returns all its names."""
    lines, names = [], ["a", "b"]
    kinds = [VALUES] * 8 + [VIEWS] * 2 + [WRITES] * 3 + [GRADIENTS] * trains + [LOOKS] * looks
    for i in range(chance.randint(2, 12)):
        line = chance.choice(chance.choice(kinds))
        x, y = (chance.choice(names[-4:] if chance.random() < 0.6 else names) for _ in "xy")
        lines.append(line.format(x=x, y=y, n=f"v{i}"))
        if "{n}" in line and ".item()" not in line and "bool(" not in line and "tolist" not in line:
            names.append(f"v{i}")
    return lines


def made(lines, lib):
    """The function. A line that raises ends it, as a rule."""
    head = ["def f(a, b, w, k, step, torch=torch, F=F):", "    y2 = 1"]
    tail = ["    return {n: v for n, v in locals().items() if n[0] == 'v'} | {'a': a, 'b': b}"]
    code = "\n".join([*head, *(f"    {line}" for line in lines), *tail])
    space = {"torch": lib, "F": lib.nn.functional}
    exec(compile(code, "<function>", "exec"), space)
    return space["f"]


class Arguments:
    """What one call is given, made as often as it is asked for: the same each time."""

    def __init__(self, chance, *, large=False, trains=True):
        shapes = LARGE if large else SHAPES
        self.shape = chance.choice(shapes)
        self.other = chance.choice([self.shape, self.shape, chance.choice(shapes)])
        self.dtypes = chance.choices(
            ["float32", "float64", "bfloat16", "float16", "int64", "complex64"],
            [8, 3, 2, 1, 1, 1],
            k=2,
        )
        if chance.random() < 0.7:
            self.dtypes[1] = self.dtypes[0]
        self.layouts = chance.choices(
            ["plain", "turned", "part", "steps", "expanded"], [6, 2, 2, 1, 1], k=2
        )
        self.shared = chance.choices(["apart", "same", "view", "turned", "data"], [8, 2, 2, 1, 1])[
            0
        ]
        self.recorded = trains and chance.random() < 0.3
        self.mode = chance.choices(["plain", "no_grad", "autocast", "inference"], [8, 2, 1, 1])[0]
        self.k = chance.choice([1, 2, 2.5])
        self.seed = chance.randrange(100)
        self.weight_trains = trains and chance.random() < 0.7

    def make(self, lib):
        values = random.Random(self.seed)
        a = self.tensor(lib, values, self.shape, 0)
        b = a
        if self.shared == "apart":
            b = self.tensor(lib, values, self.other, 1)
        elif self.shared == "view":
            b = a[1:] if a.dim() else a.view(1)
        elif self.shared == "turned":
            b = a.mT if a.dim() > 1 else a[None]
        elif self.shared == "data":
            b = a.data
        if self.recorded and (a.is_floating_point() or a.is_complex()):
            a = (
                a.requires_grad_()
                if a.is_leaf and values.random() < 0.5
                else a.detach().requires_grad_() * 1
            )
        w = lib.tensor(0.5, requires_grad=self.weight_trains)
        return a, b, w, self.k

    def tensor(self, lib, values, shape, at):
        dtype, layout = getattr(lib, self.dtypes[at]), self.layouts[at]
        count = 1
        for size in shape:
            count *= size
        t = lib.tensor([values.randint(-8, 8) / 4 for _ in range(count)], dtype=lib.float64)
        t = t.to(dtype).reshape(shape)
        if layout == "turned" and t.dim() > 1:
            return t.mT.contiguous().mT
        if layout == "part" and t.dim():
            whole = lib.zeros((*shape[:-1], shape[-1] + 3), dtype=dtype)
            whole[..., 2:-1] = t
            return whole[..., 2:-1]
        if layout == "steps" and t.dim():
            whole = lib.zeros((*shape[:-1], shape[-1] * 2), dtype=dtype)
            whole[..., ::2] = t
            return whole[..., ::2]
        if layout == "expanded" and t.dim() and shape[0]:
            return t[:1].expand(shape)
        return t

    @contextlib.contextmanager
    def around(self, lib):
        with contextlib.ExitStack() as stack:
            if self.mode == "no_grad":
                stack.enter_context(lib.no_grad())
            if self.mode == "inference":
                stack.enter_context(lib.inference_mode())
            if self.mode == "autocast":
                stack.enter_context(lib.autocast("cpu"))
            yield

    def __repr__(self):
        return str(vars(self))


def outcome(call, arguments, lib):
    """What a call gives, or raises, and what its arguments are then; without a library."""
    lib.manual_seed(0)
    a, b, w, k = arguments.make(lib)

    def step():
        if w.grad is not None:
            with lib.no_grad():
                w.sub_(w.grad.clamp(-1, 1))

    error = None
    with arguments.around(lib):
        try:
            found = call(a, b, w, k, step)
        except Exception as raised:  # noqa: BLE001 (the outcome is the exception)
            cause = raised.__cause__ if type(raised).__name__ == "PipelineError" else raised
            kinds = (c.__name__ for c in type(cause).__mro__ if c.__module__ == "builtins")
            error, found = next(kinds), {}
    told = {n: told_of(v) for n, v in found.items()} if error is None else {}
    ends = {"a after": a, "b after": b, "w after": w, "a's gradient": a.grad if a.is_leaf else None,
            "w's gradient": w.grad}  # fmt: skip
    return error, told | ({n: told_of(v) for n, v in ends.items()} if error is None else {})


def told_of(value):
    if not hasattr(value, "stride") or not value.numel():
        return plain(value), None
    # No step is ever taken along a dimension of one element.
    return plain(value), [
        step for step, n in zip(value.stride(), value.shape, strict=True) if n > 1
    ]
