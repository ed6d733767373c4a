"""What is called: the functions that are generated for ops, and the binding of their arguments."""
