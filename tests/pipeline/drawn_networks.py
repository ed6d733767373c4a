"""Networks drawn by chance whose values nobody holds: what backward needs of them may be made again."""

import random

import mindtorch_core as torch

F = torch.nn.functional
ONE = [F.gelu, F.silu, torch.tanh, torch.exp, F.softplus, torch.relu, torch.neg]
ONE += [lambda t: t * 0.5, lambda t: t + 1, lambda t: t**3, torch.sigmoid, torch.cos]
TWO = [torch.add, torch.mul, torch.sub, torch.maximum]
VIEWS = [
    lambda t: t.reshape(-1).view(t.shape),
    lambda t: t.transpose(0, 1).contiguous().transpose(0, 1),
    lambda t: t.unsqueeze(0).squeeze(0),
    lambda t: t[:],
]


def network(seed, size=4):
    """A function of a tensor and weights, how many weights it takes, and whether it writes."""
    draw = random.Random(seed)
    steps = [(draw.randrange(7), draw.random(), draw.random(), draw.random()) for _ in range(14)]
    weights = 1 + max(1, sum(kind < 3 for kind, *_ in steps))

    def forward(x, *given):
        values, at = [x @ given[0]], 1
        for kind, a, b, c in steps:
            first = values[int(a * len(values))]
            if kind < 3:
                made = F.linear(values[-1], given[at]) if b < 0.5 else values[-1] @ given[at]
                at += 1
                made = made / (1 + made.abs().amax().detach())
            elif kind < 5:
                made = ONE[int(c * len(ONE))](values[-1] if b < 0.7 else first)
            elif kind == 5:
                made = TWO[int(c * len(TWO))](values[-1], first)
            else:
                made = VIEWS[int(c * len(VIEWS))](values[-1])
                if b < 0.3:
                    made = (made + 0).mul_(2)
            values.append(made)
        return values[-1].square().mean()

    return forward, weights


def inputs(seed, weights, size=4):
    """Operands of such a network: one, and weights that require grad."""
    torch.manual_seed(seed)
    x = torch.randn(size, size)
    return [x, *(torch.randn(size, size, requires_grad=True) for _ in range(weights))]


def gradients(forward, given):
    """The loss and all gradients, as bits."""
    loss = forward(*given)
    loss.backward()
    return loss


def bits(loss, given):
    """What came of it."""
    made = [loss.detach(), *(t.grad for t in given[1:] if t.grad is not None), *given]
    return [t.detach().numpy().tobytes() for t in made]
