"""`mindtorch_core.ecosystem.utilities.collect_env` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.utilities.collect_env import (
    SystemEnv as SystemEnv,
    get_env_info as get_env_info,
    get_pretty_env_info as get_pretty_env_info,
    main as main,
    pretty_str as pretty_str,
)
