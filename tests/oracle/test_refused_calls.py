"""Calls that are refused: a row for each error, with its words, and PyTorch's type of error beside it.

Where PyTorch does not refuse, or with another type, the row says so.
"""

import re
import warnings

import pytest
from collecting import leaf

import mindtorch_core as torch

pt = pytest.importorskip("torch")

ROWS = []
ELSEWHERE = set()  # rows whose type of error is not PyTorch's, or that PyTorch does not refuse


def row(text, call, *, own=False):
    ROWS.append((text, call))
    if own:
        ELSEWHERE.add(len(ROWS) - 1)


def function(lib, forward=lambda ctx, x: x * 2, **methods):
    members = {"forward": staticmethod(forward)}
    members |= {name: staticmethod(f) for name, f in methods.items()}
    return type("Fn", (lib.autograd.Function,), members)


# ---- where walks begin and end --------------------------------------------------------------------

backward = lambda lib, *args, **more: lib.autograd.backward(*args, **more)  # noqa: E731
row("'int' object is not iterable", lambda lib: backward(lib, 3))
row("Expected output to be a torch.Tensor, got int", lambda lib: backward(lib, [3]))
row(
    "`inputs` argument to `backward()` cannot be empty",
    lambda lib: leaf(lib).sum().backward(inputs=[]),
)
row(
    "`inputs` argument to `grad()` cannot be empty",
    lambda lib: lib.autograd.grad(leaf(lib).sum(), []),
)
row(
    "grad can be implicitly created only for scalar outputs, got shape [2]",
    lambda lib: leaf(lib).backward(),
)
row(
    "grad can be implicitly created only for real scalar outputs but got torch.complex64",
    lambda lib: (leaf(lib).sum() * 1j).backward(),
)
row(
    "gradients can be either Tensors or None, but got int",
    lambda lib: backward(lib, [leaf(lib)], [3]),
)
row(
    "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of "
    "torch.Size([2])",
    lambda lib: leaf(lib).backward(lib.ones(3)),
)
row("got 1 tensors and 2 gradients", lambda lib: backward(lib, [leaf(lib)], [None, None]))
row(
    "both grad_output and output are required to have the same dtype",
    lambda lib: leaf(lib).backward(lib.ones(2) * 1j),
)
row(
    "gradients are of Tensors and GradientEdges, but got int",
    lambda lib: lib.autograd.grad(leaf(lib).sum(), [3]),
    own=True,
)
row(
    "Expected allow_unused to be True or not passed when materialize_grads=True",
    lambda lib: lib.autograd.grad(
        leaf(lib).sum(), leaf(lib), allow_unused=False, materialize_grads=True
    ),
)
row(
    "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`",
    lambda lib: backward(lib, leaf(lib).sum(), lib.ones(()), grad_variables=lib.ones(())),
)


def second_unused(lib):
    x = leaf(lib)
    lib.autograd.grad(x.sum(), (x, leaf(lib)))


row("appears to not have been used in the graph", second_unused)
row("does not require grad", lambda lib: lib.autograd.grad(leaf(lib).sum(), lib.ones(2)))
row(
    "element 0 of tensors does not require grad and does not have a grad_fn",
    lambda lib: lib.ones(()).backward(),
)

# ---- hooks ----------------------------------------------------------------------------------------


def node_hook(lib, made, when="register_hook"):
    y = leaf(lib).unbind()[0] * 2
    getattr(y.grad_fn, when)(lambda *grads: made(lib))
    y.backward()


def tensor_hook(lib, made):
    y = leaf(lib) * 2
    y.register_hook(lambda g: made(lib))
    y.sum().backward()


row("expected tuple, but hook returned 'int'", lambda lib: node_hook(lib, lambda lib: 3))
row(
    "has returned an incorrect number of values (got 3, but expected 1)",
    lambda lib: node_hook(lib, lambda lib: (None,) * 3, "register_prehook"),
)
row("expected Variable, but hook returned 'int'", lambda lib: tensor_hook(lib, lambda lib: 3))
row(
    "has changed the size of value: from [2] to [3]",
    lambda lib: tensor_hook(lib, lambda lib: lib.ones(3)),
)
row(
    "can't replace a None gradient with a non-None value",
    lambda lib: node_hook(lib, lambda lib: (lib.ones(()),) * 2),
)


def accumulate_hook(lib, returned):
    x = leaf(lib)
    x.register_post_accumulate_grad_hook(lambda p: returned)
    x.sum().backward()


row("Tensor post accumulate grad hooks should return None.", lambda lib: accumulate_hook(lib, 3))
row(
    "Tensor post accumulate grad hooks should return None.",
    lambda lib: accumulate_hook(lib, lib.ones(2)),
)
row(
    "Expects mode to be one of ('all', 'any') but got some",
    lambda lib: lib.autograd.graph.register_multi_grad_hook([leaf(lib)], print, mode="some"),
)

# ---- functions of users ---------------------------------------------------------------------------


def run(lib, **methods):
    function(lib, **methods).apply(leaf(lib)).sum().backward()


row(
    "Legacy autograd function with non-static forward method is deprecated",
    lambda lib: lib.autograd.Function()(leaf(lib)),
)
row(
    "You must implement the forward function for custom autograd.Function.",
    lambda lib: lib.autograd.Function.apply(leaf(lib)),
)
row("You must implement either the backward or vjp method", lambda lib: run(lib))
row(
    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed",
    lambda lib: run(lib, backward=lambda ctx, g: g, vjp=lambda ctx, g: g),
)
row(
    "setup_context is not implemented.",
    lambda lib: lib.autograd.Function.setup_context(None, (), None),
)
row("expected Variable or None (got int)", lambda lib: run(lib, backward=lambda ctx, g: 3))
row(
    "returned an incorrect number of gradients (expected 1, got 2)",
    lambda lib: run(lib, backward=lambda ctx, g: (g, g)),
)
row(
    "returned an invalid gradient at index 0",
    lambda lib: run(lib, backward=lambda ctx, g: lib.ones(3)),
)
row(
    "save_for_backward can only save variables, but argument 1 is of type int",
    lambda lib: run(
        lib, forward=lambda ctx, x: ctx.save_for_backward(x, 3) or x * 2, backward=lambda ctx, g: g
    ),
)
row(
    "Some elements marked as dirty during the forward method were not returned as output",
    lambda lib: function(lib, lambda ctx, x: ctx.mark_dirty(x) or x * 2).apply(leaf(lib) * 1),
)
row(
    "Please override and implement the vmap staticmethod or set generate_vmap_rule=True",
    lambda lib: lib.vmap(
        function(lib, lambda x: x * 2, setup_context=lambda ctx, inputs, output: None).apply
    )(lib.ones(3)),
)  # fmt: skip

# ---- jacobian and the like --------------------------------------------------------------------------

F = lambda lib: lib.autograd.functional  # noqa: E731
SQUARE = lambda x: x * x  # noqa: E731
V_OF_OUTPUT = "The vector v can only be None if the user-provided function returns a single Tensor with a single element"
V_OF_INPUT = "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element"
row(V_OF_OUTPUT, lambda lib: F(lib).vjp(SQUARE, lib.ones(2)))
row(V_OF_INPUT, lambda lib: F(lib).jvp(SQUARE, lib.ones(2)))
row(V_OF_INPUT, lambda lib: F(lib).hvp(lambda x: x.sum(), lib.ones(2)))
row(V_OF_INPUT, lambda lib: F(lib).vhp(lambda x: x.sum(), lib.ones(2)))
row(
    'Expected strategy to be either "forward-mode" or "reverse-mode"',
    lambda lib: F(lib).jacobian(SQUARE, lib.ones(2), strategy="sideways"),
)
row(
    'Expected strategy to be either "forward-mode" or "reverse-mode"',
    lambda lib: F(lib).hessian(lambda x: x.sum(), lib.ones(2), outer_jacobian_strategy="sideways"),
)
row(
    "`strict=True` and `vectorized=True` are not supported together",
    lambda lib: F(lib).jacobian(SQUARE, lib.ones(2), strict=True, vectorize=True),
)
row(
    "is only implemented for `vectorize=True`",
    lambda lib: F(lib).jacobian(SQUARE, lib.ones(2), strategy="forward-mode"),
)
for option in ("create_graph", "strict"):
    row(
        f'`{option}=True` and `strategy="forward-mode"` are not supported together (yet)',
        lambda lib, option=option: F(lib).jacobian(
            SQUARE, lib.ones(2), strategy="forward-mode", vectorize=True, **{option: True}
        ),
    )
row(
    "The function given to hessian should return a single Tensor",
    lambda lib: F(lib).hessian(lambda x: (x.sum(), x.sum()), lib.ones(2)),
)
row(
    "The Tensor returned by the function given to hessian should contain a single element",
    lambda lib: F(lib).hessian(SQUARE, lib.ones(2)),
)
row(
    "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the given inputs has type",
    lambda lib: F(lib).vjp(SQUARE, 3),
)
row(
    "but the value at index 1 has type",
    lambda lib: F(lib).jacobian(lambda x, y: x, (lib.ones(2), 3)),
)
row(
    "The given v should contain a single Tensor.",
    lambda lib: F(lib).vjp(SQUARE, lib.ones(2), (lib.ones(2), lib.ones(2))),
)
row(
    "v is a tuple of invalid length: should be 2 but got 1",
    lambda lib: F(lib).jvp(lambda x, y: x * y, (lib.ones(2), lib.ones(2)), (lib.ones(2),)),
)
row(
    "v has invalid size: should be torch.Size([2]) but got torch.Size([3])",
    lambda lib: F(lib).vjp(SQUARE, lib.ones(2), lib.ones(3)),
)
row(
    "Entry 1 in v has invalid size",
    lambda lib: F(lib).jvp(
        lambda x, y: x * y, (lib.ones(2), lib.ones(2)), (lib.ones(2), lib.ones(3))
    ),
)
for name in ("vjp", "jvp", "jacobian"):
    more = (lambda lib: (lib.ones(2),)) if name != "jacobian" else lambda lib: ()
    row(
        "Output 0 of the user-provided function does not require gradients",
        lambda lib, name=name, more=more: getattr(F(lib), name)(
            lambda x: lib.ones(2), lib.ones(2), *more(lib), strict=True
        ),
    )
    row(
        "is independent of input",
        lambda lib, name=name, more=more: getattr(F(lib), name)(
            lambda x: x * 2, leaf(lib), *more(lib), strict=True, create_graph=True
        ),
    )
row(
    "This is not allowed in strict mode",
    lambda lib: F(lib).hessian(lambda x: x.sum(), lib.ones(2), strict=True),
)

# ---- modes --------------------------------------------------------------------------------------------

row("autocast(...) as a decorator needs a callable, but got", lambda lib: lib.autocast("cpu")(3))
row("Expected `device_type` of type `str`, got: `<class 'int'>`", lambda lib: lib.autocast(3))


def saved_twice(lib):
    allowed = lib.autograd.graph.allow_mutation_on_saved_tensors
    with allowed(), allowed():
        pass


row("allow_mutation_on_saved_tensors contexts cannot be nested", saved_twice)
row("Can't detach views in-place", lambda lib: (leaf(lib) * 2).split(1)[0].detach_())


def scaler(lib, dtype="float32"):
    p = lib.ones(2, dtype=getattr(lib, dtype), requires_grad=True)
    p.grad = lib.ones_like(p)
    made = lib.amp.GradScaler("cpu", init_scale=2.0)
    optimizer = lib.optim.SGD([p], lr=0.1)
    made.scale(lib.ones(()))
    return made, optimizer


def unscaled_after_step(lib):
    made, optimizer = scaler(lib)
    made.step(optimizer)
    made.unscale_(optimizer)


def unscaled_twice(lib):
    made, optimizer = scaler(lib)
    made.unscale_(optimizer)
    made.unscale_(optimizer)


def stepped_twice(lib):
    made, optimizer = scaler(lib)
    made.step(optimizer)
    made.step(optimizer)


def with_closure(lib):
    made, optimizer = scaler(lib)
    made.step(optimizer, closure=lambda: None)


def of_halves(lib):
    made, optimizer = scaler(lib, "float16")
    made.unscale_(optimizer)


row("unscale_() is being called after step().", unscaled_after_step)
row("unscale_() has already been called on this optimizer since the last update().", unscaled_twice)
row("step() has already been called since the last update().", stepped_twice)
row("Closure use is not currently supported if GradScaler is enabled.", with_closure)
row("Attempting to unscale FP16 gradients.", of_halves)

# ---- tensors ------------------------------------------------------------------------------------------


def assigned(name, value):
    def call(lib):
        x = leaf(lib)
        setattr(x, name, value(lib, x))

    return call


row("requires_grad must be a bool", assigned("requires_grad", lambda lib, x: 3))
row(
    "you can only change requires_grad flags of leaf variables",
    lambda lib: (leaf(lib) * 2).requires_grad_(False),
)
row(
    "Only Tensors of floating point and complex dtype can require gradients",
    lambda lib: lib.ones(2, dtype=lib.int32).requires_grad_(),
)
row(
    "assigned grad expected to be a Tensor or None but got grad of type",
    assigned("grad", lambda lib, x: 3),
)
row("can't assign Variable as its own grad", assigned("grad", lambda lib, x: x))
row("assigned grad has data of a different size", assigned("grad", lambda lib, x: lib.ones(3)))
row(
    "attempting to assign a gradient with dtype",
    assigned("grad", lambda lib, x: lib.ones(2, dtype=lib.float64)),
)
row(
    "assigned grad has data located on a different device",
    assigned("grad", lambda lib, x: lib.ones(2, device="meta")),
)
row("Variable data has to be a tensor, but got int", assigned("data", lambda lib, x: 3))
row(
    "tensor.H is only supported on matrices (2-D tensors). Got 3-D tensor",
    lambda lib: lib.ones(2, 2, 2).H,
)
row("Got 1-D tensor", lambda lib: lib.ones(2).mT)
row("Inference tensors do not track version counter.", lambda lib: in_inference(lib)._version)


def in_inference(lib):
    with lib.inference_mode():
        return lib.ones(2)


row(
    "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    lambda lib: lib.ones(2).stride(1),
)
row("must be int, not str", lambda lib: lib.ones(2).size("a"))
row("Dimension specified as 0 but tensor has no dimensions", lambda lib: lib.ones(()).size(0))
make_subclass = lambda lib, cls: lib.Tensor._make_subclass(cls, lib.ones(2))  # noqa: E731
row("must be a subclass of Tensor", lambda lib: make_subclass(lib, int))
wrapped = lambda lib, *args, **more: lib.Tensor._make_wrapper_subclass(  # noqa: E731
    type("Wrapped", (lib.Tensor,), {"__torch_dispatch__": classmethod(print)}), *args, **more
)
row("negative dimension", lambda lib: wrapped(lib, (-2,)))
row("mismatch in length of strides and shape", lambda lib: wrapped(lib, (2, 2), strides=(1,)))

# ---- values ---------------------------------------------------------------------------------------------

row("must be str or torch.device, not float", lambda lib: lib.device(3.5))
row("must be int, not str", lambda lib: lib.device("cpu", "0"))
row("Device index must not be negative, got -1", lambda lib: lib.device("cpu", -1))
row(
    "type (string) must not include an index because index was passed explicitly: cpu:0",
    lambda lib: lib.device("cpu:0", 0),
)
for text in ("cpu:", "cpu:a", "cpu:-1", "", "cpu:00x", "cpu:0:1"):
    row(f"nvalid device string: '{text}'", lambda lib, text=text: lib.device(text))
row(
    "only floating-point types are supported as the default type",
    lambda lib: lib.set_default_dtype(lib.int32),
)
row("cannot create 'torch.dtype' instances", lambda lib: type(lib.int32)("int32"))
row("Unknown Complex ScalarType for", lambda lib: lib.int32.to_complex())
row("requires an integer input type", lambda lib: lib.iinfo(lib.float32))
row("requires a floating point input type", lambda lib: lib.finfo(lib.int32))
row(
    "Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 and Float",
    lambda lib: lib.promote_types(lib.float8_e5m2, lib.float32),
)
row(
    "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Short",
    lambda lib: lib.promote_types(lib.uint16, lib.int16),
)
row(
    "Boolean alpha only supported for Boolean results.",
    lambda lib: lib.add(lib.ones(2), lib.ones(2), alpha=True),
)
row(
    "argument alpha must not be a floating point number",
    lambda lib: lib.add(lib.arange(2), lib.arange(2), alpha=0.5),
)
row(
    "argument alpha must not be a complex number",
    lambda lib: lib.add(lib.ones(2), lib.ones(2), alpha=1j),
)
row("dim 1 appears multiple times in the list of dims", lambda lib: lib.ones(2, 3).sum((1, -1)))
row("dim 0 appears multiple times in the list of dims", lambda lib: lib.ones(2, 3).amax((0, 0)))
row(
    "shapes to broadcast are ints or sequences of ints, got 'a' at index 0",
    lambda lib: lib.broadcast_shapes("a"),
    own=True,
)
row("a dimension of negative length does not broadcast", lambda lib: lib.broadcast_shapes((2, -3)))
row("does not broadcast: the shape", lambda lib: lib.broadcast_shapes((2, 3), (2, 4)))
row("invalid size -3", lambda lib: lib.ones(2).expand(-3))
row("isn't allowed in a leading, non-existing dimension 0", lambda lib: lib.ones(2).expand(-1, 2))
row(
    "must be greater or equal to the number of dimensions in the tensor (2)",
    lambda lib: lib.ones(2, 2).expand(2),
)
row(
    "must match the existing size (2) at non-singleton dimension 0",
    lambda lib: lib.ones(2).expand(3),
)
row("only one dimension can be inferred", lambda lib: lib.ones(4).reshape(-1, -1))
row("invalid shape dimension -2", lambda lib: lib.ones(4).reshape(-2, 2))
row("is ambiguous", lambda lib: lib.ones(0).reshape(-1, 0))
row("shape '[3, -1]' is invalid for input of size 4", lambda lib: lib.ones(4).reshape(3, -1))
row("set_num_threads expects a positive integer", lambda lib: lib.set_num_threads(0))
row("set_num_threads expects an int", lambda lib: lib.set_num_threads("2"))
row("can only concatenate tuple (not int) to torch.Size", lambda lib: lib.Size([2]) + 3)
row("torch.Size() takes an iterable of 'int' (item 1 is 'str')", lambda lib: lib.Size([2, "a"]))
row(
    "required rank 4 tensor to use channels_last format",
    lambda lib: lib.empty(2, 2, memory_format=lib.channels_last),
)
row("unsupported memory format", lambda lib: lib.empty(2, 2, memory_format=lib.preserve_format))
row(
    "more than one element of the written-to tensor refers to a single memory location",
    lambda lib: lib.ones(1).expand(2).add_(1),
)


@pytest.mark.parametrize(
    "number", range(len(ROWS)), ids=lambda n: re.sub(r"\W+", "-", ROWS[n][0])[:40]
)
def test_is_refused(number):
    text, call = ROWS[number]
    warnings.simplefilter("ignore")
    with pytest.raises(Exception) as own:  # noqa: PT011  (which one is asked below)
        call(torch)
    assert text in str(own.value)
    try:
        call(pt)
    except Exception as error:  # noqa: BLE001  (the outcome)
        alike = type(error).__name__ == own.type.__name__
    else:
        alike = False
    assert alike is (number not in ELSEWHERE)
