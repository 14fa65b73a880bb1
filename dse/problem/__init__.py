"""The way from a workload and a platform to a numeric problem.
:func:`~dse.problem.build.build_problem` is the entry."""
