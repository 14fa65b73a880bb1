"""The design space as rows of integers: encoding, repair, variation operators, neighbourhoods.

A row holds a unit for every group, then an operating point for every domain.
"""
