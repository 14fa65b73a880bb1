"""HaX-CoNN's Eq. 1 to 11 as one model for Z3: the oracle of what is asked in parts."""
