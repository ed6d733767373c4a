"""What a library says of a program that it refuses."""

import re
import warnings

from mindtorch_core.testing.comparison import outcome


def told(lib, program, names):
    """The type of error that a program raises, and its words without the library's name.

    ``names(lib)`` are what it may name.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # else they are the errors
        error = outcome(eval, program, names(lib))
    assert isinstance(error, Exception), f"{program} is not refused by {lib.__name__}"
    return type(error).__name__, re.sub(
        "mindtorch_(core|nn[.])", lambda m: "torch" + ".nn." * (m[1] != "core"), str(error)
    )
