"""Problems that are too large to be searched are refused before they are costed."""

from collections import OrderedDict

import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem import build, network_tables
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.sdf.catalogue.catalogue import model_file
from paretosoc.sdf.grouping.options import Grouping

XAVIER = load_platform("jetson-agx-xavier")


@pytest.mark.parametrize(("limit", "most"), [("MAX_GROUPS", 9), ("MAX_EDGES", 8)])
def test_a_network_of_too_many_groups_is_refused_before_it_is_costed(monkeypatch, limit, most):
    costed = []
    monkeypatch.setattr(network_tables, limit, most)
    monkeypatch.setattr(network_tables, "network_costs", lambda *_, **__: costed.append(1))
    with pytest.raises(WorkloadError, match=rf"^squeezenet: at most .*{most}.*groups joins"):
        build_problem(
            workload_of(["squeezenet"]), XAVIER, Options(groups=Grouping(each_layer=True)), known={}
        )
    assert costed == []


def test_copies_count(monkeypatch):
    workload = workload_of(["squeezenet*3"])
    monkeypatch.setattr(network_tables, "MAX_GROUPS", 9)
    assert build_problem(workload, XAVIER, Options(groups=3)).problem.group_count == 9
    with pytest.raises(WorkloadError, match=r"at most 9 groups .* got 12"):
        build_problem(workload, XAVIER, Options(groups=4))


def test_networks_of_the_catalogue_are_costed_once_and_files_each_time(monkeypatch, tmp_path):
    costed = []

    def counted(*arguments, **options):
        costed.append(arguments)
        return network_costs(*arguments, **options)

    monkeypatch.setattr(network_tables, "network_costs", counted)
    monkeypatch.setattr(build, "_networks", OrderedDict())
    monkeypatch.setattr(build, "_MAX_NETWORKS", 1)
    file = tmp_path / "own.onnx"
    file.write_bytes(model_file("squeezenet").data)

    def costs(name, groups=3, **more):
        costed.clear()
        built = build_problem(workload_of([name]), XAVIER, Options(groups=groups), **more)
        return len(costed), problem_sha256(built.problem)

    first, once = costs("squeezenet")
    assert first == 1
    assert costs("squeezenet") == (0, once)
    assert costs("squeezenet", known={}) == (1, once)
    assert costs("squeezenet", groups=4)[0] == 1
    assert costs("squeezenet") == (1, once)
    assert [costs(str(file))[0] for _ in "ab"] == [1, 1]
