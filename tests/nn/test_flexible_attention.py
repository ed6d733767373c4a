"""``torch.nn.attention.flex_attention``: PyTorch's numbers, and what it refuses."""

import json
import subprocess
import sys
from importlib import import_module

import attention_programs
import pytest
from attention_programs import PROGRAMS, run

import mindtorch_core as torch

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def of_pytorch():
    """What PyTorch makes of each program."""
    command = [sys.executable, attention_programs.__file__]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(PROGRAMS, json.loads(done.stdout), strict=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_pytorch(program, of_pytorch):
    mine, theirs = run(torch, program), of_pytorch[program]
    if isinstance(theirs, str):
        assert mine == theirs
    else:
        assert mine == [v if v is None else pytest.approx(v, abs=1e-5) for v in theirs]


def test_the_largest_scores():
    """PyTorch has them on other devices than the CPU."""
    flex = import_module("mindtorch_core.nn.attention.flex_attention")
    q, k = torch.randn(1, 1, 3, 4), torch.randn(1, 1, 5, 4)
    aux = flex.flex_attention(q, k, k, return_aux=flex.AuxRequest(max_scores=True))[1]
    assert aux.lse is None
    assert aux.max_scores.tolist() == (q @ k.mT / 2).amax(-1).tolist()


def test_an_older_way_to_ask_is_warned_of():
    flex = import_module("mindtorch_core.nn.attention.flex_attention")
    q = torch.ones(1, 1, 2, 2)
    with pytest.warns(FutureWarning, match="return_aux") as caught:
        flex.flex_attention(q, q, q, return_lse=True)
    assert caught[0].filename == __file__
