"""Other ways to the same values: a solver's bounds, exact rates of a state that recurs."""
