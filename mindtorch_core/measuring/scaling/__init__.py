"""What a training step computes and sends, and how long it would take on more ranks and another network.

`noting` and `host` run in the ranks that ``mindtorch predict-scaling`` starts; the rest is arithmetic on
what they write.
"""
