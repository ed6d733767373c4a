"""Fewer numbers from many: reductions, scans, statistics, differences."""
