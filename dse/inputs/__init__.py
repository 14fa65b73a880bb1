"""Documents that users write (JSON, YAML), output files, interrupts."""
