"""What the processor can do: what Linux tells, under the names of ``torch.cpu.get_capabilities``."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

__all__ = ["capabilities", "first_cache"]

# PyTorch's names with Linux's, most of which are the same.
_SAME: Final = """
    sse sse2 ssse3 sse4_1 sse4_2 sse4a avx avx2 avx_vnni avx_vnni_int8 avx_vnni_int16 avx_ne_convert
    avx512_vnni avx512_bf16 avx512_fp16 avx512_vbmi2 avx512_bitalg avx512_vpopcntdq
    avx512_vp2intersect avx512_4vnniw avx512_4fmaps avx10_1 avx10_2 amx_bf16 amx_tile amx_int8
    amx_fp16 fma4 f16c bmi2 popcnt aes clflush clflushopt clwb
"""
_X86: Final = {name: name for name in _SAME.split()} | {
    "sse3": "pni", "avx512_f": "avx512f", "avx512_cd": "avx512cd", "avx512_dq": "avx512dq",
    "avx512_bw": "avx512bw", "avx512_vl": "avx512vl", "avx512_ifma": "avx512ifma",
    "avx512_vbmi": "avx512vbmi", "fma3": "fma", "bmi": "bmi1", "lzcnt": "abm", "sha": "sha_ni",
}  # fmt: skip
_ARM: Final = {
    "neon": "asimd", "fp16_arith": "asimdhp", "bf16": "bf16", "i8mm": "i8mm", "dot": "asimddp",
    "sve": "sve", "sve2": "sve2", "sve_bf16": "svebf16", "sme": "sme", "sme2": "sme2",
    "atomics": "atomics", "fhm": "asimdfhm", "rdm": "asimdrdm", "crc32": "crc32", "aes": "aes",
    "sha1": "sha1", "sha2": "sha2", "pmull": "pmull",
}  # fmt: skip
_NAMES: Final = {"x86_64": _X86, "AMD64": _X86, "i686": _X86, "aarch64": _ARM, "arm64": _ARM}


def capabilities() -> Mapping[str, Any]:
    """Flags, and the architecture, the processor's name and the number of its logical cores."""
    architecture = platform.machine()
    told = _told()
    found: dict[str, Any] = {
        "architecture": architecture,
        "cpu_name": told.get("model name", platform.processor()),
        "num_logical_cores": os.cpu_count() or 1,
    }
    flags = set(told.get("flags", told.get("Features", "")).split())
    if flags:
        found |= {name: flag in flags for name, flag in _NAMES.get(architecture, {}).items()}
    return MappingProxyType(found)


def first_cache(cpu: Path = Path("/sys/devices/system/cpu/cpu0")) -> int:
    """Bytes of a first-level cache of data: of the first processor's, or 32 KiB where nobody tells."""
    for index in sorted(cpu.glob("cache/index*")):
        try:
            level, kind, size = (
                (index / name).read_text(encoding="utf-8").strip()
                for name in ("level", "type", "size")
            )
        except OSError:
            continue
        if level == "1" and kind != "Instruction" and size[-1:] == "K" and size[:-1].isdecimal():
            return int(size[:-1]) << 10
    return 1 << 15


def _told() -> dict[str, str]:
    """What Linux says of the first processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (x.partition(":") for x in lines)}
