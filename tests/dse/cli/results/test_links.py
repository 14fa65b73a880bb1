"""Folders from somebody else: links in them are not written through."""

import shutil

import pytest

from paretosoc.common.files import file_in
from paretosoc.results.errors import ResultError
from tests.support.result_folders import files


@pytest.fixture
def linked(pair_folder, tmp_path):
    """A result, and a function that makes an entry of it a link to a file elsewhere."""
    folder = tmp_path / "run"
    shutil.copytree(pair_folder, folder)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "rc").write_text("mine")

    def link(name, target="rc"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(tmp_path / "home" / target)
        return folder

    return link


@pytest.mark.parametrize("target", ["rc", "new"])
def test_report_does_not_follow_links(dse, linked, tmp_path, target):
    refused = dse("report", linked("report.html", target))
    assert refused.status == 2
    assert "report.html: must be inside" in refused.err
    assert files(tmp_path / "home") == {"rc": b"mine"}


def test_certify_does_not_follow_links(dse, linked, tmp_path):
    for name in ("certificate.json", "certificate.tree", "bounds.json", "front.svg"):
        assert dse("certify", linked(name), "-q").status == 2
    assert files(tmp_path / "home") == {"rc": b"mine"}


def test_deploy_does_not_follow_links(dse, pair_folder, tmp_path):
    output, elsewhere = tmp_path / "out", tmp_path / "rc"
    assert dse("deploy", pair_folder, "--to", "json", "-o", output).status == 0
    elsewhere.write_text("mine")
    for path in list(output.iterdir()):
        path.unlink()
        path.symlink_to(elsewhere)
    assert dse("deploy", pair_folder, "--to", "json", "-o", output, "--force").status == 2
    assert elsewhere.read_text() == "mine"


def test_links_that_a_user_names_are_followed(dse, pair_folder, tmp_path):
    page, folder = tmp_path / "page.html", tmp_path / "run"
    shutil.copytree(pair_folder, folder)
    (tmp_path / "here.html").symlink_to(page)
    (tmp_path / "link").symlink_to(folder)
    assert dse("report", folder, "-o", tmp_path / "here.html").status == 0
    assert dse("report", tmp_path / "link").status == 0
    assert page.read_text("utf-8") == (folder / "report.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "link/x", "link", "a\0b"])
def test_hostile_names_of_files_in_a_folder(tmp_path, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(ResultError, match="must be inside"):
        file_in(folder, name, ResultError)
