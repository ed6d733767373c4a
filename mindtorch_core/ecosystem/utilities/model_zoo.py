"""``torch.utils.model_zoo``: the path of old of functions of ``torch.hub``."""

from __future__ import annotations

from ..hub import download_url_to_file as _download_url_to_file
from ..hub import load_state_dict_from_url as load_url
from ..progress import tqdm

__all__ = ["_download_url_to_file", "load_url", "tqdm"]
