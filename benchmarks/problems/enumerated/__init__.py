"""Random small problems with all their design points."""
