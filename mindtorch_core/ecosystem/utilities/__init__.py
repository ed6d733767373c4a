"""Modules of ``torch.utils`` that stand around tensors."""
