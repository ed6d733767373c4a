"""Straight code: a small block that comes again becomes one Python function over arrays.

Its lines call the kernels' own ufuncs where they can, and the kernels elsewhere, so results are the
same to the last bit. What a launch looks after op by op is known when the function is written.
"""

from .compiling import compile_program

__all__ = ["compile_program"]
