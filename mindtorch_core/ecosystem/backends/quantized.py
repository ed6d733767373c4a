"""Engines of quantized kernels: none."""

__all__ = ["engine", "supported_engines"]

engine: str = "none"
supported_engines: list[str] = ["none"]
