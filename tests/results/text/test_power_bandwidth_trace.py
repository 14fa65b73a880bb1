"""Power and bandwidth over time, held against the energies that the schedule was counted with."""

from itertools import pairwise

from paretosoc.results.text.schedule import activity, largest_of, mean_of, steps_by_unit


def integral(steps, unit):
    return sum(
        row[unit] * (after - before)
        for (before, after), row in zip(pairwise(steps.instants_ps), steps.values, strict=False)
    )


def test_power_over_time_is_the_energy(front, scheduled):
    problem = front.problem
    for member in front.members:
        figures = activity(problem, member)
        steps = steps_by_unit(scheduled(problem, member), figures.dynamic_mw, mean_of)
        by_unit = [
            integral(steps, u) + figures.idle_mw[u] * member.makespan_ps
            for u in range(len(problem.units))
        ]
        assert tuple(by_unit) == member.energy_by_unit_fj
        assert sum(by_unit) + figures.base_mw * member.makespan_ps == member.energy_fj


def test_demand_is_that_of_what_runs(front, scheduled):
    problem = front.problem
    for member in front.members[:10]:
        demands, shown = activity(problem, member).demand_kbps, scheduled(problem, member)
        steps = steps_by_unit(shown, demands, largest_of)
        assert steps.instants_ps[0] == 0
        assert steps.instants_ps[-1] == member.makespan_ps
        assert set(steps.values[-1]) == {0}
        for instant, row in zip(steps.instants_ps, steps.values, strict=True):
            running = [0] * len(problem.units)
            for execution in shown.schedule.groups:
                if execution.start_ps <= instant < execution.end_ps:
                    running[execution.unit] += demands[execution.group]
            assert list(row) == running
