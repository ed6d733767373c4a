"""What a dtype says of itself is what PyTorch's says, also where no tensor has it."""

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.schema import parse_schema
from mindtorch_core.values.dtypes import DTYPES, FLOAT8
from mindtorch_core.values.named_only import NAMED_DTYPES

pt = pytest.importorskip("torch")
FACTS = ("itemsize", "is_complex", "is_floating_point", "is_signed", "to_real", "to_complex")
# Where PyTorch gives its experimental complex32, and where it has no answer.
OTHER = {("float16", "to_complex")}
UNSIGNED = ("q", "bits")


def said(lib, name, fact):
    try:
        found = getattr(getattr(lib, name), fact)
        return repr(found() if callable(found) else found).replace("mindtorch_core.", "torch.")
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("name", [*DTYPES, *FLOAT8, *NAMED_DTYPES])
def test_facts_of_a_dtype(name):
    for fact in FACTS:
        if (name, fact) in OTHER or (fact == "is_signed" and name.startswith(UNSIGNED)):
            continue
        assert said(torch, name, fact) == said(pt, name, fact), fact


@pytest.mark.parametrize("name", [*DTYPES, *FLOAT8, *NAMED_DTYPES])
def test_numbers_of_dtypes_in_schemas(name):
    text = f"f(ScalarType d={name}) -> ()"
    ours, theirs = (parse(text) for parse in (parse_schema, pt._C.parse_schema))
    assert ours.arguments[0].default_value == theirs.arguments[0].default_value


@pytest.mark.parametrize("shape", [(), (2,), (2, 3, 4, 5), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize(
    "wanted", ["contiguous_format", "channels_last", "channels_last_3d", "preserve_format"]
)
def test_formats_of_fresh_memory(shape, wanted):
    def made(lib):
        try:
            return lib.empty(shape, memory_format=getattr(lib, wanted)).stride()
        except RuntimeError as error:
            return str(error).partition(":")[0]

    assert made(torch) == made(pt)


@pytest.mark.parametrize("name", [*DTYPES, *FLOAT8])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_the_dtype_in_which_operands_meet(name, shape):
    def met(lib):
        x, found = lib.zeros(shape).to(getattr(lib, name)), []
        others = [lib.zeros(s).to(getattr(lib, n)) for n in (*DTYPES, *FLOAT8) for s in ((), (2,))]
        for other in (True, 1, 1.0, 1j, *others):
            try:
                found.append(repr(lib.result_type(x, other)).replace("mindtorch_core.", "torch."))
            except RuntimeError as error:
                found.append(str(error))
        return found

    wanted = [found.replace("complex32", "complex64") for found in met(pt)]
    assert met(torch) == wanted
