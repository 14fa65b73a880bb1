"""Pages and the templates that they are made of."""

import pytest

from paretosoc.results.export.html import fill, html_page, read_asset


def test_a_part_is_left_as_it_is() -> None:
    assert fill("a {{X}} b {{Y}}{{X}}", {"X": "{{Y}} }}", "Y": "2"}) == "a {{Y}} }} b 2{{Y}} }}"
    assert fill("nothing", {"X": "1"}) == "nothing"
    with pytest.raises(KeyError, match="Z"):
        fill("{{Z}}", {"X": "1"})


@pytest.mark.parametrize("scripts", [True, False])
def test_scripts_run_only_where_they_are_wanted(scripts: bool) -> None:
    page = html_page("a <b> & c", read_asset("periodic.css"), "<h1>{}</h1>", scripts=scripts)
    assert page.startswith("<!doctype html>\n")
    assert "<title>a &lt;b&gt; &amp; c</title>" in page
    policy = page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    kept = [entry.split()[0] for entry in policy.split("; ")]
    wanted = ["default-src", "style-src", *(["script-src"] if scripts else []), "img-src"]
    assert kept == wanted
    assert "{{" not in page
