"""When a program did what: its ops, what its pipelines launched, and the memory of its tensors, as a page."""
