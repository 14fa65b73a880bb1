"""The compiled simulator: self-timed execution under memory contention, in integers.

:mod:`~fitness.simulator.layout` flattens a problem, :mod:`~fitness.simulator.state` holds the
state, :mod:`~fitness.simulator.general` advances it event by event. The rules are those of
:mod:`fitness.check`, which shares no code with it.
"""
