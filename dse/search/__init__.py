"""The search: an optimizer proposes rows (ask), they are evaluated, the optimizer learns (tell).

:func:`~dse.search.driver.search` is the loop, :mod:`~dse.search.optimizers` has the optimizers.
"""
