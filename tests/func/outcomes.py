"""What programs of `torch.func` give, in a form in which two libraries are compared."""

import warnings


def outcome(program, names):
    """What a program gives: numbers, shapes, dtypes; or the type of its error; and whether it was slow."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = plain(eval(program, names))
        except Exception as error:  # noqa: BLE001 (errors of both libraries are compared)
            found = type(error).__name__
    return found, any("performance drop" in str(w.message) for w in caught)


def plain(value):
    if hasattr(value, "tolist"):
        numbers = [round(v, 3) if isinstance(v, float) else v for v in value.flatten().tolist()]
        return numbers, list(value.shape), value.requires_grad
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return "function" if callable(value) else str(value).rpartition(".")[2]
