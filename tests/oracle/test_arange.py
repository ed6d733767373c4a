"""`arange` of bounds and steps that have no end, against PyTorch."""

import math

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_same_outcome

pt = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan
ENDLESS = [
    (INF,), (-INF,), (NAN,), (0, INF), (0, -INF), (0, NAN), (-INF, 0), (INF, 0, -1), (NAN, 1),
    (INF, INF), (-INF, INF), (0, 1, INF), (0, 1, -INF), (0, 1, NAN), (0, INF, INF), (5, 0, -INF),
    (0, 5, 0), (0.0, 5.0, 0.0), (0, 5, -1), (5, 0), (0, 1e300), (0, 2**63), (2**63, 0, -1), (1, 0, -1e-300),
]  # fmt: skip


@pytest.mark.parametrize(
    "dtype",
    [None, "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
     "complex64"],
)  # fmt: skip
def test_arange_without_an_end(dtype):
    for case in ENDLESS:
        for tensors in (False, True):
            if tensors and any(isinstance(v, int) and v >= 2**63 for v in case):
                continue

            def call(lib, case=case, tensors=tensors):
                given = [lib.tensor(v) for v in case] if tensors else case
                return lib.arange(
                    *given, **({} if dtype is None else {"dtype": getattr(lib, dtype)})
                )

            assert_same_outcome(lambda: call(torch), lambda: call(pt), msg=f"{case}, {tensors}")


@pytest.mark.parametrize("case", [(0, INF), (0, -INF), (INF,), (NAN, 1), (INF, 0, -1), (-INF, INF)])
def test_texts_of_arange_without_an_end(case):
    for dtype in ("float32", "int32", "int64"):
        texts = []
        for lib in (torch, pt):
            with pytest.raises(RuntimeError) as caught:
                lib.arange(*case, dtype=getattr(lib, dtype))
            texts.append(str(caught.value).splitlines()[0])
        assert texts[0] == texts[1]


@pytest.mark.filterwarnings("ignore:torch.range")
@pytest.mark.parametrize("name", ["arange", "linspace", "logspace", "range"])
def test_an_output_of_as_many_elements_keeps_its_shape(name):
    found = []
    for lib in (torch, pt):
        x = lib.zeros(2, 3)
        args = (0, 4) if name == "arange" else (0, 3, 4) if name != "range" else (0, 3)
        made = getattr(lib, name)(*args, out=x.narrow(1, 1, 2))
        assert made.shape == (2, 2)
        found.append(x.tolist())
    for ours, theirs in zip(*found, strict=True):
        assert ours == pytest.approx(theirs)
