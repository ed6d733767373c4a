"""``python -m mindtorch_core`` is the command ``mindtorch``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
