"""`mindtorch_core.serialization` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.serialization import (
    LoadEndianness as LoadEndianness,
    MapLocation as MapLocation,
    Path as Path,
    add_safe_globals as add_safe_globals,
    clear_safe_globals as clear_safe_globals,
    default_restore_location as default_restore_location,
    get_crc32_options as get_crc32_options,
    get_default_load_endianness as get_default_load_endianness,
    get_default_mmap_options as get_default_mmap_options,
    get_safe_globals as get_safe_globals,
    get_unsafe_globals_in_checkpoint as get_unsafe_globals_in_checkpoint,
    load as load,
    location_tag as location_tag,
    safe_globals as safe_globals,
    safetensors as safetensors,
    save as save,
    set_crc32_options as set_crc32_options,
    set_default_load_endianness as set_default_load_endianness,
    set_default_mmap_options as set_default_mmap_options,
    skip_data as skip_data,
)
