"""``torch.cuda`` as a module: the functions of such devices, or that there are none."""

from ..device_faces import show
from . import amp

__all__ = ["amp"]

show(__name__)
