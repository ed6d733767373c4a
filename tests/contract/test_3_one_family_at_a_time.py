"""The first call of an op defines the ops of its own family, and no others."""

import subprocess
import sys

import pytest

FIRST = {
    "torch.sort(x)": "sorting",
    "torch.tril(m)": "arranging",
    "torch.cumsum(x, 0)": "reductions",
    "torch.linalg.inv(m)": "linalg",
    "torch.fft.fft(x)": "fft",
    "torch.gather(x, 0, i)": "indexing",
    "torch.where(x > 0, x, x)": "elementwise",
    "torch.nn.functional.softmax(x, 0)": "nn",
}
SCRIPT = """
import sys
import mindtorch_core as torch
from mindtorch_core.operators.homes import HOMES

def defined():
    return {name.split(".")[0] for name, _ in HOMES if f"mindtorch_core.operators.{name}" in sys.modules}

x, m, i = torch.tensor([3.0, 1.0]), torch.tensor([[2.0, 1.0], [0.0, 1.0]]), torch.tensor([0, 1])
before = defined()
%s
print(*defined() - before)
"""


@pytest.mark.parametrize("call", FIRST)
def test_a_first_call_defines_one_family(call):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT % call], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= {FIRST[call]}
