"""What editors and type checkers see of the ops."""
