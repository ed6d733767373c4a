"""`mindtorch_core.random` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.random import (
    Generator as Generator,
    default_generator as default_generator,
    fork_rng as fork_rng,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    random_positions as random_positions,
    seed as seed,
    set_rng_state as set_rng_state,
)
