"""Problems that are too large to be searched are refused before they are costed."""

import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem import network_tables
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.platforms.io.platform_file import load_platform

XAVIER = load_platform("jetson-agx-xavier")


@pytest.mark.parametrize(("limit", "most"), [("MAX_GROUPS", 9), ("MAX_EDGES", 8)])
def test_a_network_of_too_many_groups_is_refused_before_it_is_costed(monkeypatch, limit, most):
    costed = []
    monkeypatch.setattr(network_tables, limit, most)
    monkeypatch.setattr(network_tables, "network_costs", lambda *_, **__: costed.append(1))
    with pytest.raises(WorkloadError, match=rf"^squeezenet: at most .*{most}.*groups joins"):
        build_problem(workload_of(["squeezenet"]), XAVIER, Options(groups="layers"))
    assert costed == []


def test_copies_count(monkeypatch):
    workload = workload_of(["squeezenet*3"])
    monkeypatch.setattr(network_tables, "MAX_GROUPS", 9)
    assert build_problem(workload, XAVIER, Options(groups=3)).problem.group_count == 9
    with pytest.raises(WorkloadError, match=r"at most 9 groups .* got 12"):
        build_problem(workload, XAVIER, Options(groups=4))
