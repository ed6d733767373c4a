"""These tests compare with PyTorch."""

import pytest

pytest.importorskip("torch")
