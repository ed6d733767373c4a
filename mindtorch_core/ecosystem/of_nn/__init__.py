"""Modules of ``torch.nn`` that mindtorch has for the sake of imports."""
