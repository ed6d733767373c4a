"""What users call and see besides ops: creation, indexing, printing, conversion, copies, modes."""
