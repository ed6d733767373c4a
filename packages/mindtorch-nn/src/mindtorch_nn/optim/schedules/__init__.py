"""Schedules of learning rates; `mindtorch_nn.optim.lr_scheduler` shows them."""
