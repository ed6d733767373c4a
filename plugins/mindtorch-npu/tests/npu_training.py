"""A small training program, which the tests of the pipeline and of reliability run on NPUs."""

import mindtorch_core as torch

F = torch.nn.functional


class Training:
    """Two linear layers, a cross-entropy loss, gradients and stochastic gradient descent."""

    def __init__(self, device="npu", seed=0, width=16):
        values = torch.Generator("cpu").manual_seed(seed)

        def numbers(*shape):
            return torch.randn(*shape, generator=values).to(device)

        self.device = device
        self.images = numbers(32, 8)
        self.labels = torch.randint(0, 4, (32,), generator=values).to(device)
        self.parameters = [
            (numbers(width, 8) * 0.3).requires_grad_(),
            torch.zeros(width, device=device, requires_grad=True),
            (numbers(4, width) * 0.3).requires_grad_(),
            torch.zeros(4, device=device, requires_grad=True),
        ]

    def loss(self):
        """The loss of all images."""
        first, first_bias, second, second_bias = self.parameters
        hidden = F.relu(F.linear(self.images, first, first_bias))
        return F.cross_entropy(F.linear(hidden, second, second_bias), self.labels)

    def step(self):
        """One step; gives the loss before it, without waiting for the device."""
        loss = self.loss()
        gradients = torch.autograd.grad(loss, self.parameters)
        with torch.no_grad():
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter.sub_(gradient, alpha=0.1)
        return loss.detach()
