"""The loop of training, by the core's own name."""

from pathlib import Path

import mindtorch_core as torch
from data import loaders
from mindtorch_core.distributions import Normal, kl_divergence
from mindtorch_core.optim.lr_scheduler import StepLR
from model import Network

Losses = list[float]


def train(model: torch.nn.Module, epochs: int) -> Losses:
    """Train, and give the mean loss of each epoch."""
    batches, _ = loaders(32)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
    schedule = StepLR(optimizer, step_size=2, gamma=0.5)
    losses: Losses = []
    for _ in range(epochs):
        total = 0.0
        for pictures, labels in batches:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(pictures), labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        schedule.step()
        losses.append(total / len(batches))
    return losses


@torch.no_grad()
def accuracy(model: torch.nn.Module) -> float:
    """The share of right answers."""
    _, batches = loaders(32)
    model.eval()
    right, seen = 0, 0
    for batch in batches:
        pictures, labels = batch
        found = model(pictures).argmax(dim=1)
        right += int((found == labels).sum().item())
        seen += labels.shape[0]
    return right / seen


def deferred(x: torch.Tensor) -> tuple[torch.Tensor, float]:
    """A few ops as one block, and how many were launched."""
    with torch.pipeline() as block:
        y = (x @ x.T + 1).relu()
        values, places = y.max(dim=1)
    assert places.dtype is torch.int64
    launched: float = block.stats()["launched"]
    return values, launched


def save(model: torch.nn.Module, file: Path) -> Network:
    """Save the weights, and load them into another network."""
    torch.save(model.state_dict(), file)
    other = Network()
    other.load_state_dict(torch.load(file, weights_only=True))
    return other


def summary(x: torch.Tensor) -> dict[str, float | list[int]]:
    """Numbers of a tensor."""
    prior, seen = Normal(0.0, 1.0), Normal(x.mean(), x.std())
    array = x.detach().numpy()
    return {
        "distance": float(kl_divergence(seen, prior)),
        "norm": float(torch.linalg.vector_norm(x)),
        "largest": float(array.max()),
        "shape": list(x.size()),
    }


def main(folder: Path) -> dict[str, float]:
    """Train, save, load and compare."""
    torch.manual_seed(0)
    network = Network()
    losses = train(network, 2)
    again = save(network, folder / "weights.pt")
    values, launched = deferred(torch.ones(2, 2))
    assert values.shape == torch.Size([2])
    assert sum(parameter.numel() for parameter in again.parameters()) > 0
    return {"first": losses[0], "last": losses[-1], "right": accuracy(again), "launched": launched}
