"""The communicator ``mpi`` of mindtorch: processes that MPI connects, through mpi4py."""
