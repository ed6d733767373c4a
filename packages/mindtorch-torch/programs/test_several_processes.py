"""accelerate and Lightning train in two processes, by their own launchers: `nox -s programs-distributed`."""

import os
import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
if "mindtorch" not in torch.__version__:
    pytest.skip("torch is PyTorch here: see `nox -s programs`", allow_module_level=True)
pytest.importorskip("mpi4py", reason="wants mindtorch-mpi: see `nox -s programs-distributed`")

ACCELERATE = """
import os
import sys
import torch
from accelerate import Accelerator, debug_launcher, notebook_launcher

def main():
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    assert accelerator.gather(loss.detach()[None]).shape == (2,)
    weight = accelerator.unwrap_model(model).weight.tolist()
    said = f"rank {accelerator.process_index} of {accelerator.num_processes} has {weight}\\n"
    os.write(1, said.encode())  # at once: the processes share the pipe

if __name__ == "__main__":
    if sys.argv[1] == "debug":
        debug_launcher(main, num_processes=2)
    elif sys.argv[1] == "notebook":
        notebook_launcher(main, num_processes=2)
    else:
        main()
"""

LIGHTNING = """
import os
import sys
import lightning
import torch
from lightning.pytorch.plugins.environments import LightningEnvironment

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, number):
        return (self.layer(batch[0]) - batch[1]).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

if __name__ == "__main__":
    torch.manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    own = [LightningEnvironment()] if sys.argv[1] == "own" else None
    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=1, logger=False, plugins=own,
        enable_checkpointing=False, enable_progress_bar=False,
    )
    model = Model()
    trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=4))
    said = f"rank {trainer.global_rank} of {trainer.world_size} has {model.layer.weight.tolist()}\\n"
    os.write(1, said.encode())  # at once: the processes share the pipe
"""
TORCHRUN = ["-m", "torch.distributed.run", "--nproc-per-node=2"]


@pytest.mark.parametrize(
    ("program", "command"),
    [
        (ACCELERATE, ["program.py", "debug"]),
        (ACCELERATE, ["program.py", "notebook"]),
        (ACCELERATE, [*TORCHRUN, "program.py", "launched"]),
        (LIGHTNING, ["program.py", "own"]),
        (LIGHTNING, [*TORCHRUN, "program.py", "launched"]),
    ],
    ids=[
        "debug_launcher",
        "notebook_launcher",
        "accelerate-torchrun",
        "lightning",
        "lightning-torchrun",
    ],
)
def test_two_processes_train_one_model(tmp_path, program, command):
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    # Into a file, as a process that outlives the first would keep a pipe open.
    with open(tmp_path / "out", "w", encoding="utf-8") as out:
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, stdout=out, stderr=out, timeout=150, check=False,
            env={**os.environ, "ACCELERATE_USE_CPU": "true"},
        )  # fmt: skip
    said = (tmp_path / "out").read_text(encoding="utf-8")
    assert done.returncode == 0, said
    found = dict(re.findall(r"^rank (\d) of 2 has (.*)$", said, re.M))
    assert sorted(found) == ["0", "1"], said
    assert found["0"] == found["1"]
