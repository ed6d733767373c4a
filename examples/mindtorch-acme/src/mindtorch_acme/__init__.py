"""Acme's backend of mindtorch."""
