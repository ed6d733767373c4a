"""Programs: recorded ops as a compiler wants them, and what backends make of them, which is kept."""

from .checks import Check, Checked
from .kept import PROGRAMS
from .program import Executable, Halted, Instruction, Number, Program, Ref, Value

__all__ = [
    "PROGRAMS",
    "Check",
    "Checked",
    "Executable",
    "Halted",
    "Instruction",
    "Number",
    "Program",
    "Ref",
    "Value",
]
