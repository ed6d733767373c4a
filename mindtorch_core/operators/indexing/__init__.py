"""Picking and placing elements by position."""
