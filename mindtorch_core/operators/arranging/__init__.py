"""The same elements joined, stacked, repeated or in another order."""
