"""``torch.testing._internal``: what PyTorch's own tests, and those of libraries, are written with."""
