"""Meta backend of mindtorch: shapes and dtypes without data."""

__version__ = "0.1.0"
