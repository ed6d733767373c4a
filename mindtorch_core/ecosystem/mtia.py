"""``torch.mtia`` as a module: the functions of such devices, or that there are none."""

from .device_faces import show

show(__name__)
