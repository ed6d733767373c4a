"""`mindtorch_core.ecosystem.package` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from typing import Any

PackageExporter: Any
PackageImporter: Any
