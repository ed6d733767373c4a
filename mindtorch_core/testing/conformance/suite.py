"""The class that a backend's own test file derives from: all tests together."""

from __future__ import annotations

from typing import Final

import pytest

from .alias_tests import AliasTests
from .autocast_tests import AutocastTests
from .copy_tests import CopyTests
from .function_tests import FunctionTests
from .gradient_tests import GradientTests
from .known_plan_tests import KnownPlanTests
from .memory_tests import MemoryTests
from .numeric_tests import NumericTests
from .object_tests import ObjectTests
from .op_tests import OpTests
from .plan_tests import PlanTests
from .program_tests import ProgramTests
from .queue_tests import QueueTests
from .random_tests import RandomTests
from .registration_tests import RegistrationTests
from .sharing_tests import SharingTests
from .structure_plan_tests import StructurePlanTests
from .thread_tests import ThreadTests
from .wide_plan_tests import WidePlanTests

__all__ = ["BackendConformance"]


# What ops warn of that are older, or lose something by their nature.
_SAID: Final = (
    "A window was not provided",
    "Casting complex values to real",
    "Sparse (CS|BS). tensor support is in beta",
    "The reduce argument of torch.scatter with Tensor src",
    "Using padding='same' with even",
    "Using torch.cross without",
    "index_reduce.. is in beta",
    "stft with return_complex=False",
    "torch.(cholesky|chain_matmul|lu|lu_solve|qr|range|triangular_solve) is deprecated",
    "torch.meshgrid. in an upcoming",
    "where received a uint8 condition",
)


@pytest.mark.filterwarnings(*(f"ignore:{text}" for text in _SAID))
class BackendConformance(
    RegistrationTests,
    MemoryTests,
    SharingTests,
    CopyTests,
    QueueTests,
    ThreadTests,
    RandomTests,
    AliasTests,
    ObjectTests,
    AutocastTests,
    ProgramTests,
    PlanTests,
    KnownPlanTests,
    StructurePlanTests,
    WidePlanTests,
    NumericTests,
    OpTests,
    GradientTests,
    FunctionTests,
):
    """Tests of a backend; subclass it in a test module and set the attributes.

    Attributes:
        device: the device under test.
        known_failures: file beside the test module that lists tests known to fail; empty for the
            list that the backend's distribution declares, if it does.
        level: how much is tested: ``smoke``, ``core`` or ``full``.
    """
