"""`mindtorch_core.ecosystem.utilities.model_zoo` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.ecosystem.utilities.model_zoo import (
    _download_url_to_file as _download_url_to_file,
    load_url as load_url,
    tqdm as tqdm,
)
