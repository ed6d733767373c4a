"""The arguments of an op may have any name that a schema can have, also one of the machinery's."""

import builtins
import io
import keyword
import linecache
import tokenize

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.dispatch.schema.parser import RESERVED
from mindtorch_core.opdefs.define import op


def names_in_generated_functions():
    """What the functions that are generated for a call call their own things."""
    lib = torch.library.Library("named_first", "DEF")
    lib.define("of(Tensor x, int n=2, *, str? s=None) -> Tensor")
    lib.impl("of", lambda x, n=2, s=None: x * n, "CPU")
    lib.impl("of", lambda x, n=2, s=None: torch.empty_like(x), "Meta")
    x = torch.ones(1, requires_grad=True)
    with torch.pipeline():
        torch.ops.named_first.of(torch.cat([x, x]).sum() + 1, 3)
    x.mul(2).backward()
    found = set()
    for file, entry in list(linecache.cache.items()):
        if file.startswith("<mindtorch "):
            tokens = tokenize.generate_tokens(io.StringIO("".join(entry[2])).readline)
            found |= {t.string for t in tokens if t.type == tokenize.NAME}
    lib._destroy()
    return {name.rpartition("·")[2] for name in found}


NAMES = sorted(
    {name for name in names_in_generated_functions() if name.isascii()}
    | {"type", "len", "getattr", "hasattr", "locals", "Exception", "print", "__import__"}
    | {"self", "input", "out", "torch", "args", "kwargs", "name", "keyset", "from_", "of", "mt"}
    | {"requires_grad", "layout", "pin_memory", "device", "dtype", "axis", "dim", "__debug__"}
    | {word for word in keyword.kwlist if word not in RESERVED}
    | {name for name in dir(builtins) if name[0].islower() and name[0] < "d"}
    - RESERVED
)  # fmt: skip
NAMES = [name for name in NAMES if name not in RESERVED]


def scaled(*args, **kwargs):
    by = next((v for v in (*args[1:], *kwargs.values()) if v is not None), 2)
    return args[0] * (by if isinstance(by, int) else 3)


def defined(schema):
    lib = torch.library.Library("named", "FRAGMENT")
    lib.define(schema)
    lib.impl("of", scaled, "CPU")
    lib.impl("of", lambda *args, **kwargs: torch.empty_like(args[0]), "Meta")
    return lib


def deferred(fn):
    with torch.pipeline():
        return fn()


@pytest.mark.parametrize("name", NAMES)
def test_any_name_will_do(name):
    x = torch.ones(1)
    for schema, args, kwargs in [
        (f"of(Tensor x9, int {name}=2) -> Tensor", (x, 3), {}),
        (f"of(Tensor x9, int {name}=2) -> Tensor", (x,), {name: 3}),
        (f"of(Tensor x9, *, int {name}=2) -> Tensor", (x,), {name: 3}),
        (f"of(Tensor {name}, int x9=2) -> Tensor", (), {name: x, "x9": 3}),
        (f"of(Tensor x9, Tensor[] {name}) -> Tensor", (x, [x]), {}),
        (f"of(Tensor x9, str? {name}=None) -> Tensor", (x, "a@b"), {}),
    ]:
        lib = defined(schema)
        call = torch.ops.named.of
        assert call(*args, **kwargs).item() == 3, schema
        assert call.default(*args, **kwargs).item() == 3, schema
        assert deferred(lambda: call(*args, **kwargs)).item() == 3, schema
        with pytest.raises(RuntimeError, match="nothing_like_it"):
            call(*args, **kwargs, nothing_like_it=1)
        torch.library.register_autograd("named::of", lambda ctx, g: (g, None), lib=lib)
        if "[]" not in schema and "*" not in schema:
            leaf = torch.ones(1, requires_grad=True)
            given = [leaf if v is x else v for v in args]
            named = {k: leaf if v is x else v for k, v in kwargs.items()}
            call(*given, **named).backward()
            assert leaf.grad.item() == 1, schema
        lib._destroy()


@pytest.mark.parametrize("name", ["from", "lambda", "async"])
def test_a_word_of_python_beside_what_it_is_called_there(name):
    lib = defined(f"of(Tensor x, int {name}=2, int {name}_=5) -> Tensor")
    assert torch.ops.named.of(torch.ones(1), **{f"{name}_": 7}).item() == 2
    assert torch.ops.named.of(torch.ones(1), **{name: 3, f"{name}_": 7}).item() == 3
    lib._destroy()


@pytest.mark.parametrize("op_name", ["from", "lambda", "torch", "type", "KERNELS", "print"])
def test_an_op_may_have_any_name_too(op_name):
    lib = torch.library.Library("named", "FRAGMENT")
    lib.define(f"{op_name}(Tensor x, ScalarType d=float32) -> Tensor")
    lib.impl(op_name, lambda x, d=None: x.to(d or torch.float32) * 3, "CPU")
    lib.impl(op_name, lambda x, d=None: torch.empty_like(x, dtype=d), "Meta")
    call = getattr(torch.ops.named, op_name)
    assert call(torch.ones(1)).item() == 3
    assert deferred(lambda: call(torch.ones(1))).item() == 3
    lib._destroy()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("Tensor self, Tensor input", "two arguments 'input' in Python"),
        ("Tensor self, int from, int from_", "two arguments 'from_' in Python"),
        ("Tensor self, *, int from=1", "'from' by keyword, and it is a word of Python"),
    ],
)
def test_names_that_a_row_cannot_have_in_python_are_refused(arguments, problem):
    with registry.scope():
        op(f"named_row({arguments}) -> Tensor", decomposition=lambda *a, **k: a[0])
        with pytest.raises(TypeError, match=problem):
            torch.named_row(torch.ones(1), torch.ones(1))
