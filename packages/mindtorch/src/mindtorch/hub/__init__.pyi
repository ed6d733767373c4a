"""`mindtorch_core.hub` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.hub import (
    download_url_to_file as download_url_to_file,
    get_dir as get_dir,
    help as help,
    list as list,
    load as load,
    load_state_dict_from_url as load_state_dict_from_url,
    set_dir as set_dir,
    tqdm as tqdm,
)
