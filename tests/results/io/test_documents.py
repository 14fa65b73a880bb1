"""Published schemas are those that follow from the declarations."""

from docs.site.schemas import generated


def test_published_schemas_are_the_generated_ones():
    for path, data in generated().items():
        assert path.read_bytes() == data, f"{path.name}: python -m docs.site.schemas"
