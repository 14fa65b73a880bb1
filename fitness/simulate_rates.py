"""What recurs of single design points of networks with rates, by the compiled timeline.

For whole populations :func:`fitness.simulate.make_evaluator` has the same. Where the first period
ends within itself, it is what recurs, and nothing here is asked for.
"""

from __future__ import annotations

import numpy as np

from paretosoc.fitness.simulate import chosen_of, row_of, scheduled_groups
from paretosoc.fitness.simulator.layout import make_plan
from paretosoc.fitness.simulator.state import AT_KEPT, HIGH_FJ, account_width, make_state
from paretosoc.results.front.schedule import Schedule
from paretosoc.results.problem.arithmetic import MAX_PERIODS
from paretosoc.results.problem.problem import DesignPoint, Problem


def recurring_dynamic_fj(problem: Problem, design: DesignPoint) -> tuple[int, ...]:
    """Of every unit what it draws above idle power in a period of the window, rounded down.

    Raises:
        ValueError: where nothing recurs, or the design puts a group on a unit that cannot run it.
    """
    from paretosoc.fitness.simulator.rates import play_until_it_recurs

    plan, units = make_plan(problem), len(problem.units)
    state = make_state(plan, frames=0, in_flight=1, streams=plan.networks)
    if not play_until_it_recurs(plan, chosen_of(problem, plan, row_of(design)), state):
        raise ValueError("nothing recurs: the units are overloaded")
    width = account_width(plan, plan.networks)
    now, kept = (state.account[at : at + width].tolist() for at in (0, AT_KEPT * width))
    periods = (now[0] - kept[0]) // plan.period_ps
    grown = [b - a for a, b in zip(kept, now, strict=True)]
    return tuple((grown[1 + u] + grown[1 + units + u] * HIGH_FJ) // periods for u in range(units))


def recurring_schedule(problem: Problem, design: DesignPoint) -> Schedule:
    """All executions from the beginning to the window's end.

    Raises:
        ValueError: where the design puts a group on a unit that cannot run it.
    """
    from paretosoc.fitness.simulator.long_run import simulate_shown

    plan = make_plan(problem)
    chosen = chosen_of(problem, plan, row_of(design))
    most = (MAX_PERIODS + 1) * plan.instances
    state = make_state(
        plan,
        frames=0,
        in_flight=1,
        streams=plan.networks,
        log=True,
        log_rows=most + 3 * len(problem.units),
    )
    instants = np.zeros(3, dtype=np.int64)
    simulate_shown(plan, chosen, state, most, instants)
    count = int(state.run.logged)
    groups = scheduled_groups(plan, chosen, state.logged[:count], state.log[:count])
    return Schedule(tuple(sorted(groups)))
