"""Scenarios: functions of a library's namespace, run with this library and with PyTorch."""


class Scenarios(list):
    """Collects functions: a decorator."""

    def __call__(self, function):
        self.append(function)
        return function


def leaf(lib, *values):
    return lib.tensor([float(v) for v in values or (1, 2)], requires_grad=True)
