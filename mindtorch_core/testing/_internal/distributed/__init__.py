"""``torch.testing._internal.distributed``: what tests of several ranks are written with."""
