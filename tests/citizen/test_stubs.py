"""What a type checker makes of users' code with the stubs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

ACCEPTED = """
import mindtorch_core as torch
import mindtorch_core.nn.functional as F

x = torch.ones(2)
y = x.sum(0).relu()
z: torch.Tensor = torch.nn.functional.relu(x)
w = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True) @ torch.ones((3, 4))
values, indices = w.max(1)
more = w.max(dim=1).values + torch.max(w, values[:, None])
q = 2 * x + 1 - x / 3**x
first: int = torch.split(w, 2)[0].shape[0]
same: bool = torch.equal(x, x)
mask: torch.Tensor = x == y
loss = F.cross_entropy(w, torch.tensor([1, 2]), reduction="sum")
loss.backward()
grad: torch.Tensor | None = x.grad
x[0] = 3
x += 1
with torch.no_grad():
    x.add_(1, alpha=2).mul_(2)
torch.save({"a": x}, "file.pt")
norm: torch.Tensor = torch.linalg.norm(x)
parts: tuple[torch.Tensor, ...] = torch.unbind(torch.cat([x, y.reshape(1)], 0))
moved = x.to("cpu", torch.float64).float().reshape(-1, 1).permute(1, 0)
torch.add(x, y, out=z)
reveal_type(x.exp())
"""

REFUSED = """
x.reluu()
x.sum(dim="a")
torch.relu("a")
torch.zeros(2, dtype="float32")
F.nothing(x)
x.add(None)
torch.cat(x)
number: int = x.sum()
torch.softmax(x)
x.add(x, beta=1)
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The checker's messages on users' code, by line."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("user")
    (folder / "user.py").write_text(ACCEPTED + REFUSED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--no-error-summary",
         "--follow-imports", "silent", "user.py"],
        cwd=folder, env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    found = {}
    for line in done.stdout.splitlines():
        _, number, message = line.split(":", 2)
        found.setdefault(int(number), []).append(message)
    assert found, done.stdout + done.stderr
    return found


def test_right_code_is_accepted(checked):
    lines = ACCEPTED.splitlines()
    (revealed,) = checked.pop(len(lines))
    assert 'Revealed type is "mindtorch_core.tensors.tensor.Tensor"' in revealed
    assert not {n: checked[n] for n in checked if n <= len(lines)}


def test_wrong_code_is_refused(checked):
    start = ACCEPTED.count("\n") + 2
    wrong = REFUSED.strip().splitlines()
    missed = [
        line
        for i, line in enumerate(wrong)
        if " error: " not in "".join(checked.get(start + i, []))
    ]
    assert missed == []
