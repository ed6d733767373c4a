"""Orders, places in orders, and elements without repetition."""
