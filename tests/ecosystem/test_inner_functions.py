"""Inner names of `torch.nn.functional` and `torch._C` that libraries and pickles use, beside PyTorch's."""

import importlib
import io
import subprocess
import sys
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

pt = pytest.importorskip("torch")
PF = pt.nn.functional

FUNCTIONS = [
    "relu", "celu", "matmul", "fft.rfft", "fft.fftshift", "linalg.cross", "linalg.vector_norm", "special.erf",
    "special.expit", "sparse.mm", "sparse.softmax", "nn.functional.gelu", "nn.functional.softplus",
    "nn.functional.logsigmoid", "nn.functional.relu", "nn.functional.hardtanh_", "Tensor.add", "Tensor.clamp",
]  # fmt: skip


def at(lib, path):
    for name in path.split("."):
        lib = getattr(lib, name)
    return lib


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_in_a_file_of_pytorchs_is_ours(name):
    file = io.BytesIO()
    pt.save(at(pt, name), file)
    file.seek(0)
    assert torch.load(file, weights_only=False) is at(torch, name)


def test_functions_of_the_compiled_part():
    inner = torch._C._VariableFunctions
    assert isinstance(inner, torch._C._VariableFunctionsClass)
    assert inner.celu is torch._C._VariableFunctionsClass.celu is torch.celu
    assert "celu" in dir(inner)
    for name in ("Tensor", "nn", "no_such_function"):  # a class, a module, nothing
        assert not hasattr(inner, name)
        assert not hasattr(pt._C._VariableFunctions, name)
    fft = importlib.import_module("mindtorch_core._C._fft")
    with pytest.raises(AttributeError, match="has no attribute 'fft_no'"):
        fft.fft_no


def tensors(lib, *shapes):
    lib.manual_seed(0)
    return [lib.randn(shape) for shape in shapes]


MASKS = [
    "[True, False], 'm', None, 'o', lib.float32", "[1.0, 0.0], 'm', lib.bool, 'o', lib.float32",
    "[1.0, 0.0], 'm', lib.bool, 'o', lib.float32, False", "[1, 0], 'm', None, 'o', lib.float32",
    "[True, False], 'm', lib.float64, 'o', lib.float64",
]  # fmt: skip


@pytest.mark.parametrize("arguments", MASKS)
def test_a_mask_as_numbers(arguments):
    def outcome(lib):
        mask, *rest = eval(f"[{arguments}]", {"lib": lib})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                made = lib.nn.functional._canonical_mask(lib.tensor(mask), *rest)
                made = made.tolist(), str(made.dtype)
            except AssertionError as error:
                made = str(error)
        return made, [str(each.message) for each in caught]

    assert outcome(torch) == outcome(pt)


def test_dtypes_of_masks():
    assert F._none_or_dtype(None) is None
    assert F._none_or_dtype(torch.ones(1, dtype=torch.float64)) is torch.float64
    with pytest.raises(RuntimeError, match="must be None or torch"):
        F._none_or_dtype(3)
    assert F._canonical_mask(None, "m", None, "o", torch.float32) is None


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("same", [False, True])
def test_projections(bias, same):
    def packed(lib):
        q, k, v, w, b = tensors(lib, (5, 2, 4), (3, 2, 4), (3, 2, 4), (12, 4), (12,))
        k, v = (q, q) if same else (k, v)
        made = lib.nn.functional._in_projection_packed(q, k, v, w, b if bias else None)
        return [t.tolist() for t in made], [t.is_contiguous() for t in made]

    def separate(lib):
        parts = tensors(lib, (5, 4), (3, 6), (3, 7), (4, 4), (4, 6), (4, 7), (4,), (4,), (4,))
        made = lib.nn.functional._in_projection(*parts[: None if bias else 6])
        return [t.tolist() for t in made]

    ours, theirs = packed(torch), packed(pt)
    assert ours[1] == theirs[1]
    for a, b in zip(ours[0] + separate(torch), theirs[0] + separate(pt), strict=True):
        torch.testing.assert_close(torch.tensor(a), torch.tensor(b), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("place", "shape"), [(3, (4, 5)), (4, (4, 4)), (5, (3, 7)), (6, (5,)), (8, (3,))]
)
def test_projections_that_do_not_fit(place, shape):
    def outcome(lib):
        shapes = [(5, 4), (3, 6), (3, 7), (4, 4), (4, 6), (4, 7), (4,), (4,), (4,)]
        shapes[place] = shape
        with pytest.raises(AssertionError) as caught:
            lib.nn.functional._in_projection(*(lib.ones(s) for s in shapes))
        return str(caught.value)

    assert outcome(torch) == outcome(pt)


def test_names_that_libraries_take_from_functional():
    assert F.Tensor is torch.Tensor
    assert F._VF.celu is torch.celu
    assert F.handle_torch_function is torch.overrides.handle_torch_function
    assert F.grad.conv2d_input is torch.nn.grad.conv2d_input
    assert F._pair(2) == PF._pair(2) == (2, 2)
    assert F._Reduction.get_enum("sum") == PF._Reduction.get_enum("sum")
    with pytest.raises(AttributeError, match="no attribute '_no_such_name'"):
        F._no_such_name


CLOSE = [
    "1.0, 1.00009", "1.0, 1.0002", "[1.0], [1.05], 0.1, 0.0", "[1, 2], [1, 2]", "[1, 2], [1, 3]", "[1.0], [1.0], 0.1",
    "float('nan'), float('nan')", "float('nan'), float('nan'), 0.1, 0.1, False", "lib.ones(2).double(), lib.ones(2)",
    "lib.ones(2).double() * 1.00005, lib.ones(2)", "lib.ones(2).half() * 1.001, lib.ones(2).half()",
    "lib.ones(2), lib.ones(3)", "lib.ones(1).double() + 1e-6, [1.0]", "lib.ones(1).double() + 1e-4, [1.0]",
]  # fmt: skip


@pytest.mark.parametrize("arguments", CLOSE)
@pytest.mark.filterwarnings("ignore:.*assert_allclose:FutureWarning")
def test_the_comparison_of_old(arguments):
    def outcome(lib):
        try:
            eval(f"lib.testing.assert_allclose({arguments})", {"lib": lib})
        except (AssertionError, ValueError) as error:
            return type(error)

    assert outcome(torch) == outcome(pt)


def test_the_comparison_of_old_warns():
    with pytest.warns(FutureWarning, match="assert_close"):
        torch.testing.assert_allclose(1.0, 1.0)


def test_a_module_below_a_devices_is_an_attribute():
    text = "import mindtorch_core.cpu as m, mindtorch_core.cuda as c; print(m.amp.GradScaler, c.memory.__name__)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "GradScaler" in done.stdout
    assert done.stdout.endswith("memory\n")


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_inner_names_that_libraries_ask(lib):
    leaf = lib.ones(2, requires_grad=True)
    end = (leaf * 2).grad_fn.next_functions[0][0]
    assert isinstance(end, lib._C._functions.AccumulateGrad)
    assert type(lib.nn.Parameter) is lib.nn.parameter._ParameterMeta
    asked = lib._C._is_torch_function_mode_enabled
    with lib.overrides.BaseTorchFunctionMode():
        assert asked()
    assert not asked()
    assert lib._C._is_alias_of(leaf, leaf.detach()[1:])
    assert not lib._C._is_alias_of(leaf, leaf.detach().clone())
    older = importlib.import_module(f"{lib.__name__}._vmap_internals")
    assert (
        older._vmap(lambda x, y: x.sum() * y, (1, None), 0)(lib.ones(2, 3), 2).tolist() == [4] * 3
    )


@pytest.mark.parametrize("lib", [torch, pt], ids=["mindtorch", "pytorch"])
def test_an_op_that_is_traced_is_recorded_as_it_was_called(lib):
    aten = lib.ops.aten
    aten.relu(lib.ones(2))  # a call with tensors first
    graph = lib.fx.symbolic_trace(lambda x: aten.relu.default(aten.relu(x))).graph
    assert [n.target for n in graph.nodes][1:3] == [aten.relu, aten.relu.default]


def test_parts_of_jacobians_that_libraries_take():
    found = []
    for lib in (torch, pt):
        parts = lib.autograd.functional
        tensors = lib.ones(2), lib.ones(1, dtype=lib.float64)
        several, (x,) = parts._as_tuple(lib.ones(1, requires_grad=True), "inputs", "jacobian")
        nested = parts._grad_postprocess(((x * 2,),), create_graph=False)
        one = parts._tuple_postprocess(nested, (False, several))
        bases = parts._construct_standard_basis_for(tensors, (2, 1))
        bare = parts._tuple_postprocess((3,), False)
        found.append(
            (*[(b.tolist(), str(b.dtype)) for b in bases], one.tolist(), one.grad_fn, bare)
        )
    assert found[0] == found[1]
