"""Groups of layers, the unit of mapping: legal cuts, fusion, branches, groups of even work.

:func:`~sdf.grouping.grouping.group_network` is the entry.
"""
