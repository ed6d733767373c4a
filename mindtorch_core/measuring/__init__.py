"""What calls cost, beside the same calls in other libraries: for ``mindtorch bench`` and the benchmarks."""
