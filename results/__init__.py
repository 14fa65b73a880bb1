"""Inputs and outputs of a search: the numeric problem, the front, and their files, tables, figures,
reports and deployment settings. Nothing here searches or simulates."""
