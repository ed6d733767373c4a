"""`mindtorch_core.ecosystem.utilities.benchmark` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.utilities.benchmark import (
    Compare as Compare,
    Language as Language,
    Measurement as Measurement,
    TaskSpec as TaskSpec,
    Timer as Timer,
    select_unit as select_unit,
    set_torch_threads as set_torch_threads,
    timer as timer,
    trim_sigfig as trim_sigfig,
    unit_to_english as unit_to_english,
)
