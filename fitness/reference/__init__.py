"""Plain evaluators in Python integers: the oracles of the compiled ones, which share no code with
them.
"""
