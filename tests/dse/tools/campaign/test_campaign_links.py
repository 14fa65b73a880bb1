"""A campaign's folder from somebody else: links and names in it lead nowhere."""

import shutil
import sqlite3

import pytest

from paretosoc.dse.tools.campaign.store.liveness_lock import forget_dead
from paretosoc.dse.tools.campaign.store.pack import compress, decompress, pack, unpack
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import write_folder
from paretosoc.results.io.canonical_json import sha256_of
from tests.support.result_folders import files


@pytest.fixture
def copied(campaign, tmp_path):
    shutil.copytree(campaign / "runs", tmp_path / "runs")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "rc").write_text("mine")
    return tmp_path / "runs"


@pytest.mark.parametrize("name", ["parts", "owners", "results", "problems", "campaign.sqlite-wal"])
def test_links_in_a_campaign_are_refused(copied, name):
    home = copied.parent / "home"
    shutil.rmtree(copied / name, ignore_errors=True)
    (copied / name).unlink(missing_ok=True)
    (copied / name).symlink_to(home)
    with pytest.raises(ResultError, match=f"{name}: must be inside"), Store(copied) as store:
        store.begin_work()
    assert files(home) == {"rc": b"mine"}


@pytest.mark.parametrize("name", ["report.html", "fronts"])
def test_the_report_of_a_campaign_does_not_follow_links(dse, copied, name):
    home = copied.parent / "home"
    (copied / name).symlink_to(home / "rc" if name == "report.html" else home)
    refused = dse("campaign", "report", copied)
    assert refused.status == 2
    assert f"{name}: must be inside" in refused.err
    assert files(home) == {"rc": b"mine"}


def test_a_hostile_archive_writes_no_file_elsewhere(dse, copied, tmp_path):
    with Store(copied) as store:
        record = next(record for record in store.records() if record.pack_sha256)
        content = store.files(record)
        path = store.pack_path(record.hash)
    data = pack({**content, "../escaped": b"x"})
    path.write_bytes(data)
    with sqlite3.connect(copied / "campaign.sqlite") as database:
        database.execute(
            "UPDATE runs SET pack_sha256 = ? WHERE hash = ?", (sha256_of(data), record.hash)
        )
    database.close()
    refused = dse("campaign", "extract", copied, record.hash, "-o", tmp_path / "out" / "run")
    assert refused.status == 2
    assert not list(tmp_path.rglob("escaped"))


def test_a_hostile_name_is_no_file_of_a_result(tmp_path):
    with pytest.raises(ResultError, match="must be inside"):
        write_folder(tmp_path / "out", {"../escaped": b"x"}, overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_hostile_archives_are_not_unpacked_beyond_a_limit(monkeypatch):
    packed, compressed = pack({"front.json": bytes(2000)}), compress(bytes(2000))
    monkeypatch.setattr("paretosoc.dse.tools.campaign.store.pack.MAX_BYTES", 1999)
    for read, data in ((unpack, packed), (decompress, compressed)):
        with pytest.raises(ResultError, match="must have at most 1999 bytes unpacked"):
            read(data)


def test_hostile_names_among_locks_are_left_alone(tmp_path):
    (tmp_path / ".foreign").write_text("")
    forget_dead(tmp_path)
    assert (tmp_path / ".foreign").exists()
