"""Tables and vectors of compiled code, and their types for the compiler."""
