"""HaX-CoNN's Eq. 1-11 as one SMT formulation for Z3."""
