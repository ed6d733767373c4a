"""Wheels as installers meet them: without an index, and where a package requires torch."""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

__all__ = ["offline", "torch_wheel"]

# What somebody does first: devices, a training step as it is and in a pipeline, a file, the commands.
FIRST_USE = """
import mindtorch as torch
from mindtorch import nn
assert "site-packages" in torch.__file__
torch.manual_seed(0)
x = torch.linspace(-1, 1, 64).unsqueeze(1)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
losses = []
for step in range(200):
    with torch.pipeline():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), x.sin())
        loss.backward()
        optimizer.step()
    losses.append(loss.item())
assert losses[-1] < 1e-3 < losses[0], (losses[0], losses[-1])
torch.save(model.state_dict(), "model.pt")
print(model.load_state_dict(torch.load("model.pt")), torch.ones(2, device="meta").device, losses[-1])
"""
WITH_TORCH = (
    "import accelerate, importlib.metadata, torch; "
    "assert 'mindtorch' in torch.__version__ == importlib.metadata.version('torch'); "
    "print(accelerate.Accelerator(cpu=True).prepare(torch.nn.Linear(2, 2)))"
)


def _environment(session: nox.Session, name: str) -> str:
    """The interpreter of a new environment with pip, below the session's folder."""
    venv = Path(session.create_tmp()).resolve() / f"venv-{name}"
    session.run_install("uv", "venv", "-q", "--clear", "--seed", str(venv), external=True)
    return str(venv / "bin" / "python")


def _wheelhouse(session: nox.Session, ours: list[str]) -> Path:
    """A folder that holds wheels of ours and nothing else."""
    folder = Path(session.create_tmp()).resolve() / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for wheel in ours:
        shutil.copy(wheel, folder)
    return folder


def offline(session: nox.Session, ours: list[str]) -> None:
    """Install wheels and what they need from a folder alone, by pip and by uv, and use them.

    Args:
        session: whose temporary folder is used.
        ours: paths of the wheels of all distributions that are published.
    """
    folder = _wheelhouse(session, ours)
    python = _environment(session, "loading")
    session.run(python, "-m", "pip", "download", "-q", "-d", str(folder), *ours, external=True)
    nothing = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "UV_OFFLINE": "1", "PYTHONPATH": ""}
    wheels = sorted(map(str, folder.glob("*.whl")))
    program = folder.parent / "first_use.py"
    program.write_text(FIRST_USE, encoding="utf-8")
    for installer in ("pip", "uv"):
        python = _environment(session, installer)
        install = {
            "pip": [python, "-m", "pip", "install", "-q", "--no-index"],
            "uv": ["uv", "pip", "install", "-q", "--python", python, "--no-index"],
        }[installer]
        session.run_install(*install, *wheels, external=True, env=nothing)
        session.chdir(folder.parent)  # not the root, whose folder would be imported
        session.run(python, str(program), external=True, env=nothing)
        command = str(Path(python).with_name("mindtorch"))
        for said in (["doctor", "cpu"], ["backends"]):
            session.run(command, *said, external=True, env=nothing)


def torch_wheel(session: nox.Session, ours: list[str]) -> None:
    """Install the wheel that `mindtorch wheel-torch` writes, by pip and by uv, beside accelerate.

    Args:
        session: in whose environment the command runs.
        ours: paths of the wheels that the command's wheel requires.
    """
    session.install(*ours)
    folder = _wheelhouse(session, ours)
    session.run("mindtorch", "wheel-torch", str(folder))
    (torch,) = folder.glob("torch-*.whl")
    wanted = f"torch=={torch.name.split('-')[1]}"
    for installer in ("pip", "uv"):
        python = _environment(session, installer)
        found = ["--find-links", str(folder)]
        if installer == "pip":
            command = [python, "-m", "pip", "install", "-q", *found, wanted, "accelerate"]
        else:
            override = folder.parent / "override.txt"
            override.write_text(f"{wanted}\n", encoding="utf-8")
            command = ["uv", "pip", "install", "-q", "--python", python, *found, "accelerate"]
            command += ["--override", str(override)]
        session.run_install(*command, external=True)
        session.run(python, "-c", WITH_TORCH, external=True, env={"PYTHONPATH": ""})
