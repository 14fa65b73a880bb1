"""What is published of the options is what the table says."""

import json
from importlib import resources
from pathlib import Path

import pytest

import paretosoc as dse
from paretosoc.dse.workload import reference
from paretosoc.dse.workload.options import FIELDS, FILES, Options, ProblemOptions
from paretosoc.dse.workload.workload import WorkloadNetwork


@pytest.mark.parametrize("name", ["campaign", "workload"])
def test_the_published_schema_is_the_generated_one(name: str) -> None:
    file = resources.files("paretosoc.dse.inputs.data") / f"{name}.schema.json"
    published = json.loads(file.read_text())
    assert getattr(reference, f"{name}_schema")(published) == published


def test_the_page_has_the_table() -> None:
    page = (Path(__file__).parents[3] / reference.PAGE).read_text()
    assert reference.page(page) == page


def test_every_option_has_a_normal_form_and_a_description() -> None:
    assert set(ProblemOptions.__annotations__) - FILES == set(vars(Options()))
    for name, field in FIELDS.items():
        assert f"{name}: " in (dse.Problem.__init__.__doc__ or "")
        assert field.help[-1] not in ".:", name
    for name in reference.NETWORK_LIMITS:
        assert name in WorkloadNetwork.__dataclass_fields__
