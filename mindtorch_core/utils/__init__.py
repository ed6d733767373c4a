"""Names that PyTorch keeps under ``torch.utils``."""
