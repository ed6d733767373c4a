"""Backend of mindtorch for the device 'zed'."""
