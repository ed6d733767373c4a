"""The examples in the docstrings of ``torch.library``, ``torch.ops`` and dispatch modes run."""

import doctest
import sys
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.frontend import dispatch_modes as modes
from mindtorch_core.library import (
    by_name,
    checks,
    custom_ops,
    fake,
    gradients,
    infer,
    registration,
    triton_ops,
)
from mindtorch_core.library import (
    op_rules as policies,
)
from mindtorch_core.opdefs import op_overload as overload
from mindtorch_core.opdefs import tags
from mindtorch_core.opdefs import torch_ops as overloads

cpu_fallback = sys.modules["mindtorch_core.library.cpu_fallback"]  # not the function of that name
MODULES = (
    *(by_name, checks, cpu_fallback, custom_ops, fake, gradients, infer, policies, registration),
    *(modes, overload, overloads, tags, triton_ops),
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FINDER = doctest.DocTestFinder(exclude_empty=True)
EXAMPLES = {
    test.name: test
    for module in MODULES
    for test in FINDER.find(module, extraglobs={"torch": torch})
    if test.examples
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    failures = []
    with registry.scope(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        doctest.DocTestRunner(optionflags=FLAGS).run(EXAMPLES[name], out=failures.append)
    assert not failures, "".join(failures)


def test_what_is_public_has_an_example():
    described = {name.rpartition(".")[2] for name in EXAMPLES}
    public = set(torch.library.__all__) - {
        "OpCheckError",
        "fallthrough_kernel",
        "CustomOpDef",
        "get_ctx",
        "impl_abstract",  # another's older name
        "wrap_triton",  # refuses
    }
    assert public | {"DispatchMode", "OpOverload", "OpOverloadPacket"} <= described
