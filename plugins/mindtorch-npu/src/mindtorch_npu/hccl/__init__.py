"""The communicator ``hccl`` of mindtorch: processes with an NPU each, which HCCL connects."""
