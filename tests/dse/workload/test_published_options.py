"""Every option has a description; test_documents.py compares what is published with the table."""

import paretosoc as dse
from paretosoc.dse.workload.options import FIELDS, FILES, NETWORK_LIMITS, Options, ProblemOptions
from paretosoc.dse.workload.workload import WorkloadNetwork


def test_every_option_has_a_normal_form_and_a_description() -> None:
    assert set(ProblemOptions.__annotations__) - FILES == set(vars(Options()))
    for name, field in FIELDS.items():
        assert f"{name}: " in (dse.Problem.__init__.__doc__ or "")
        assert field.help[-1] not in ".:", name
    for name in NETWORK_LIMITS:
        assert name in WorkloadNetwork.__dataclass_fields__
