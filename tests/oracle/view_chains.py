"""Random chains of views, writes and changes of memory format, drawn as data and run on a library."""

from hypothesis import strategies as st

FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")
SHAPES = st.lists(st.sampled_from([0, 1, 1, 2, 2, 3, 4]), max_size=5).map(tuple)


def dim(draw, rank):
    """A dimension, rarely one too many."""
    return draw(st.integers(-rank, max(rank - 1, 0))) if draw(st.integers(0, 19)) else rank


def regrouped(draw, t):
    """Sizes with as many elements."""
    n = t.numel()
    if not n:
        return draw(st.sampled_from([tuple(t.shape), (0,), (0, 2), (3, 0, 1), (-1,)]))
    sizes, rest = [], n
    while rest > 1 and len(sizes) < 4:
        factor = draw(st.sampled_from([f for f in range(1, rest + 1) if rest % f == 0]))
        sizes.append(factor)
        rest //= factor
    sizes.append(rest)
    if draw(st.integers(0, 4)) == 0:
        sizes[draw(st.integers(0, len(sizes) - 1))] = -1
    return tuple(sizes)


def strided(draw, t):
    """Arguments of as_strided, mostly inside the storage."""
    rank = draw(st.integers(0, 3))
    size = tuple(draw(st.integers(0, 3)) for _ in range(rank))
    stride = tuple(draw(st.sampled_from([0, 1, 1, 2, 3, 4])) for _ in range(rank))
    return size, stride, draw(st.sampled_from([None, 0, 0, 1, 2, 9]))


VIEWS = {
    "view": lambda draw, t: (regrouped(draw, t),),
    "reshape": lambda draw, t: (regrouped(draw, t),),
    "transpose": lambda draw, t: (dim(draw, t.dim()), dim(draw, t.dim())),
    "swapaxes": lambda draw, t: (dim(draw, t.dim()), dim(draw, t.dim())),
    "movedim": lambda draw, t: (dim(draw, t.dim()), dim(draw, t.dim())),
    "permute": lambda draw, t: (draw(st.permutations(range(t.dim()))),),
    "t": lambda draw, t: (),
    "adjoint": lambda draw, t: (),
    "unsqueeze": lambda draw, t: (dim(draw, t.dim() + 1),),
    "squeeze": lambda draw, t: draw(st.sampled_from([(), (dim(draw, t.dim()),)])),
    "select": lambda draw, t: (dim(draw, t.dim()), draw(st.integers(-2, 2))),
    "narrow": lambda draw, t: (dim(draw, t.dim()), draw(st.integers(0, 2)), draw(st.integers(0, 2))),
    "diagonal": lambda draw, t: (draw(st.integers(-2, 2)), dim(draw, t.dim()), dim(draw, t.dim())),
    "expand": lambda draw, t: (tuple(draw(st.sampled_from([-1, -1, 2, n])) for n in t.shape),),
    "flatten": lambda draw, t: (dim(draw, t.dim()), dim(draw, t.dim())),
    "unfold": lambda draw, t: (dim(draw, t.dim()), draw(st.integers(0, 3)), draw(st.integers(0, 3))),
    "as_strided": strided,
    "detach": lambda draw, t: (),
    "ravel": lambda draw, t: (),
    "getitem": lambda draw, t: (draw(st.sampled_from([
        (Ellipsis, slice(None, None, 2)), (slice(1, None),), (None,), (Ellipsis, slice(0, -1)), (0,),
    ])),),
}  # fmt: skip
PARTS = {
    "split": lambda draw, t: (draw(st.integers(0, 3)), dim(draw, t.dim())),
    "chunk": lambda draw, t: (draw(st.integers(1, 3)), dim(draw, t.dim())),
    "unbind": lambda draw, t: (dim(draw, t.dim()),),
    "tensor_split": lambda draw, t: (draw(st.integers(1, 3)), dim(draw, t.dim())),
    "hsplit": lambda draw, t: (draw(st.integers(1, 2)),),
}
GEOMETRY = {  # of the tensor itself, in place
    "t_": lambda draw, t: (),
    "transpose_": lambda draw, t: (dim(draw, t.dim()), dim(draw, t.dim())),
    "unsqueeze_": lambda draw, t: (dim(draw, t.dim() + 1),),
    "squeeze_": lambda draw, t: (),
}
FRESH = {
    "clone": lambda draw, t: {"memory_format": draw(st.sampled_from(FORMATS))},
    "contiguous": lambda draw, t: {"memory_format": draw(st.sampled_from(FORMATS))},
    "to": lambda draw, t: {"memory_format": draw(st.sampled_from(FORMATS))},
    "double": lambda draw, t: {},
    "neg": lambda draw, t: {},
    "twice": lambda draw, t: {},
    "select_scatter": lambda draw, t: {},
}
WRITES = ("add_", "mul_", "fill_", "zero_", "neg_", "copy_", "add_other", "setitem")


@st.composite
def steps(draw, tensors):
    """One step: what to do with which of the tensors. ``tensors`` are PyTorch's, as they are now."""
    at = draw(st.integers(max(len(tensors) - 4, 0), len(tensors) - 1))
    t = tensors[at]
    kind = draw(st.sampled_from(["view"] * 6 + ["part", "geometry", "fresh", "write", "write"]))
    if kind == "write":
        return kind, at, draw(st.sampled_from(WRITES)), (draw(st.integers(0, len(tensors) - 1)),)
    table = {"view": VIEWS, "part": PARTS, "geometry": GEOMETRY, "fresh": FRESH}[kind]
    name = draw(st.sampled_from(sorted(table)))
    return kind, at, name, table[name](draw, t)


def write(lib, t, name, other):
    """Change a tensor in place."""
    if name == "add_":
        t.add_(1)
    elif name == "mul_":
        t.mul_(2)
    elif name == "fill_":
        t.fill_(7)
    elif name == "zero_":
        t.zero_()
    elif name == "neg_":
        t.neg_()
    elif name == "copy_":
        t.copy_(other)
    elif name == "add_other":
        t.add_(other)
    else:
        t[...] = 3


def fresh(lib, t, name, options):
    """A tensor made from another one, mostly in memory of its own."""
    options = {k: getattr(lib, v) for k, v in options.items()}
    if name == "twice":
        return t + t
    if name == "select_scatter":
        return lib.select_scatter(t, t.select(0, 0).clone(), 0, 0)
    return getattr(t, name)(**options)


def run(lib, tensors, step):
    """Do one step; returns the tensors that it makes."""
    kind, at, name, args = step
    t = tensors[at]
    if kind == "write":
        write(lib, t, name, tensors[args[0]])
        return []
    if kind == "fresh":
        return [fresh(lib, t, name, args)]
    if name == "getitem":
        return [t[args[0]]]
    made = getattr(t, name)(*args)
    if kind == "geometry":
        return []
    return list(made) if kind == "part" else [made]
