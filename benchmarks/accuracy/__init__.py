"""How near predictions are: to published measurements, and estimates to what they stand for."""
