"""Special functions: those of ``torch.special``."""
