"""``torch.__future__``: how modules convert and load their parameters."""

from .frontend.swapping import SETTINGS

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Set whether a module that is converted gets new parameters, instead of new memory in its own."""
    SETTINGS["overwrite"] = bool(value)


def get_overwrite_module_params_on_conversion() -> bool:
    """What `set_overwrite_module_params_on_conversion` has set; False at first."""
    return SETTINGS["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Set whether modules that convert or load swap their parameters with what they become.

    Whoever refers to a parameter, such as an optimizer, has the new one then, of whatever class.
    """
    SETTINGS["swap"] = bool(value)


def get_swap_module_params_on_conversion() -> bool:
    """What `set_swap_module_params_on_conversion` has set; False at first."""
    return SETTINGS["swap"]
