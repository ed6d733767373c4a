"""Checkpoints that several processes write and read together.

The public face is ``torch.distributed.checkpoint``. `index` says what lies on disk.
"""
