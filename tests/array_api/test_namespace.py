"""The namespace of the array API standard: how it is found, what is in it, how it may be called."""

import inspect
import subprocess
import sys

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

# What the standard, version 2024.12, names, by chapter. A function's parameters stand behind its name as
# Python writes them; `*` alone divides those that are named, `/` those that are not.
UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf
isnan log log1p log2 log10 logical_not negative positive real reciprocal round sign signbit sin sinh
square sqrt tan tanh trunc
"""
BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal
floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor
maximum minimum multiply nextafter not_equal pow remainder subtract
"""
MAIN = """
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
__array_namespace_info__()
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
broadcast_arrays(*arrays)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, axis=0)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1, x2, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
"""
LINALG = """
cholesky(x, /, *, upper=False)
cross(x1, x2, /, *, axis=-1)
det(x, /)
diagonal(x, /, *, offset=0)
eigh(x, /)
eigvalsh(x, /)
inv(x, /)
matmul(x1, x2, /)
matrix_norm(x, /, *, keepdims=False, ord='fro')
matrix_power(x, n, /)
matrix_rank(x, /, *, rtol=None)
matrix_transpose(x, /)
outer(x1, x2, /)
pinv(x, /, *, rtol=None)
qr(x, /, *, mode='reduced')
slogdet(x, /)
solve(x1, x2, /)
svd(x, /, *, full_matrices=True)
svdvals(x, /)
tensordot(x1, x2, /, *, axes=2)
trace(x, /, *, offset=0, dtype=None)
vecdot(x1, x2, /, *, axis=-1)
vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
"""
ONE = "(x, /, *, n=None, axis=-1, norm='backward')"
SEVERAL = "(x, /, *, s=None, axes=None, norm='backward')"
FFT = "\n".join(
    [
        *(f"{name}{ONE}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")),
        *(f"{name}{SEVERAL}" for name in ("fftn", "ifftn", "rfftn", "irfftn")),
        *(f"{name}(n, /, *, d=1.0, dtype=None, device=None)" for name in ("fftfreq", "rfftfreq")),
        *(f"{name}(x, /, *, axes=None)" for name in ("fftshift", "ifftshift")),
    ]
)
CONSTANTS = "e inf nan newaxis pi"
DTYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
"""
METHODS = """
__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__
__float__ __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__ __lshift__ __lt__
__matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __rshift__ __setitem__ __sub__
__truediv__ __xor__ __iadd__ __radd__ __rpow__ __rlshift__ __rfloordiv__ __imod__ __ixor__ __rmatmul__
T device dtype mT ndim shape size to_device
"""


def named(text, namespace):
    """A table's functions with their parameters."""
    for line in text.strip().splitlines():
        name, _, parameters = line.partition("(")
        yield pytest.param(namespace, name, f"({parameters}", id=f"{namespace}{name}")


FUNCTIONS = [
    *named("\n".join(f"{name}(x, /)" for name in UNARY.split()), ""),
    *named("\n".join(f"{name}(x1, x2, /)" for name in BINARY.split()), ""),
    *named(MAIN, ""),
    *named(LINALG, "linalg."),
    *named(FFT, "fft."),
]


def of(namespace):
    return getattr(xp, namespace.rstrip(".")) if namespace else xp


@pytest.mark.parametrize(("namespace", "name", "parameters"), FUNCTIONS)
def test_every_function_has_the_parameters_of_the_standard(namespace, name, parameters):
    function = getattr(of(namespace), name)
    signature = inspect.signature(function)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    assert str(inspect.Signature(plain)) == parameters
    assert function.__name__ == name
    assert inspect.getdoc(function)


def test_the_namespace_holds_what_the_standard_names_and_nothing_else():
    wanted = {p.values[1] for p in FUNCTIONS if not p.values[0]}
    wanted |= {*CONSTANTS.split(), *DTYPES.split(), "fft", "linalg", "__array_api_version__"}
    assert set(xp.__all__) == wanted
    assert len(xp.__all__) == len(wanted)
    for namespace in ("linalg.", "fft."):
        functions = {p.values[1] for p in FUNCTIONS if p.values[0] == namespace}
        assert set(of(namespace).__all__) == functions


@pytest.mark.parametrize("name", METHODS.split())
def test_tensors_have_what_the_standard_asks_of_arrays(name):
    assert hasattr(torch.ones(1, 1), name)


def test_constants():
    np = pytest.importorskip("numpy")
    assert (xp.e, xp.pi, xp.inf) == (np.e, np.pi, np.inf)
    assert xp.nan != xp.nan
    assert xp.newaxis is None
    assert torch.ones(2)[:, xp.newaxis].shape == (2, 1)


def test_dtypes_are_those_of_tensors():
    for name in DTYPES.split():
        assert getattr(xp, name) is getattr(torch, name)


@pytest.mark.parametrize("version", [None, "2021.12", "2022.12", "2023.12", "2024.12"])
def test_a_tensor_gives_the_namespace(version):
    assert torch.ones(2).__array_namespace__(api_version=version) is xp
    assert xp.__array_api_version__ == "2024.12"


@pytest.mark.parametrize("version", ["2020.01", "2024", "", 2024.12])
def test_other_versions_are_refused(version):
    with pytest.raises(ValueError, match=r"is not supported; there are 2021\.12"):
        torch.ones(2).__array_namespace__(api_version=version)


def test_to_device():
    x = torch.ones(2)
    assert x.to_device(x.device) is x
    assert x.to_device("meta").device.type == "meta"
    with pytest.raises(ValueError, match="takes no stream"):
        x.to_device("cpu", stream=1)


def test_size_stays_a_method():
    """The namespace changes no tensor: programs ask `array_api_compat.size(x)`, or `math.prod`."""
    assert torch.ones(2, 3).size() == (2, 3)


def test_it_is_imported_when_it_is_asked_for():
    """Neither importing mindtorch nor computing costs anything for it."""
    program = """
import sys
import mindtorch_core as torch
x = torch.ones(2) + 1
assert not [name for name in sys.modules if name.startswith("mindtorch_core.array_api")]
xp = x.__array_namespace__()
assert xp is sys.modules["mindtorch_core.array_api"]
from mindtorch_core.dispatch.functions import _CALLED
assert "hypot" not in vars(_CALLED["torch"]), "functions of ops are made on their first call"
print(xp.hypot(x, x).tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[2.82842")
