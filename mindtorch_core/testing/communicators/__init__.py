"""The conformance kit for communicators: ``mindtorch verify --communicator NAME -n 4``.

Every rank runs the same checks (`checks`, `faults`), and tells through the store, which the communicator
has no part in, how each ended.
"""
