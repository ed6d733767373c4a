"""What is generated in this repository: a module each, whose ``files()`` says what should be there."""
