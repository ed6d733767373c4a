"""`mindtorch_core.ecosystem.backends.cudnn` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.backends.cudnn import (
    allow_tf32 as allow_tf32,
    benchmark as benchmark,
    benchmark_limit as benchmark_limit,
    conv as conv,
    deterministic as deterministic,
    enabled as enabled,
    flags as flags,
    is_acceptable as is_acceptable,
    is_available as is_available,
    rnn as rnn,
    set_flags as set_flags,
    version as version,
)
