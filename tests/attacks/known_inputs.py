"""Where other libraries' values lead elsewhere than in PyTorch, on purpose or not yet as there."""

# Words of which one is in the use's name, words of which one is in the value's name, and why.
KNOWN = [
    (("",), ("numpy.complex64", "numpy.bool_"), "PyTorch takes them for Python's float: 1j is lost"),
    (("index", "assign at"), ("",), "PyTorch cuts off fractions of indices"),
    (("out", "dtype"), ("",), "PyTorch passes numbers over there, as one overload takes them"),
    (("tensor of", "new_tensor"), ("longdouble", "bfloat16 scalar"),
     "PyTorch asks for __float__ where a dtype is given, whatever its own"),
    (("frombuffer",), ("8[s]", "float8", "int4", "bfloat16"), "their memory has no format for Python"),
    (("clamp", "arange"), ("complex",), "PyTorch drops the imaginary part"),
]  # fmt: skip


def known(use, name, problem):
    """Whether a difference is listed; of two values only those of NumPy's scalars are."""
    if not problem.startswith("raises") and not name.startswith("numpy."):
        return False
    return any(
        any(u in use for u in uses) and any(n in name for n in names) for uses, names, _ in KNOWN
    )
