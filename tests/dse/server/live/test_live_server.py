"""The server of live views: one machine, one token, one address for each folder."""

from __future__ import annotations

import http.client
import json
import socket
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from paretosoc.common.cache import user_cache
from paretosoc.dse.server.live import serve
from paretosoc.dse.server.live.serve import HOST, listen
from paretosoc.results.io.canonical_json import Json
from tests.dse.server.live.conftest import serving


class Greeting:
    """A view that says what it was asked."""

    def page(self) -> str:
        return "<title>Hello</title>"

    def state(self, query: Mapping[str, str]) -> Json:
        return dict(query)

    def report(self, name: str) -> str | None:
        return f"report {name}" if name == "one" else None


def get(url: str, path: str, *, host: str | None = None, method: str = "GET") -> tuple[int, str]:
    """Status and body of a path below the server of ``url``."""
    port = int(url.split(":")[2].split("/")[0])
    connection = http.client.HTTPConnection(HOST, port, timeout=10)
    connection.request(method, path, headers={"Host": host or f"{HOST}:{port}"})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def test_page_state_and_reports_are_served_to_who_knows_the_token(tmp_path: Path) -> None:
    with serving(Greeting(), tmp_path / "run") as url:
        token = url.split("/")[3]
        assert len(token) >= 32
        assert get(url, f"/{token}/") == (200, "<title>Hello</title>")
        status, body = get(url, f"/{token}/state?version=7")
        assert (status, json.loads(body)) == (200, {"version": "7"})
        assert get(url, f"/{token}/report/one") == (200, "report one")
        assert get(url, f"/{token}/report/two")[0] == 404
        assert get(url, f"/{token}/", host="localhost")[0] == 200


def test_answers_about_the_state_are_paced_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits = 5.0, []
    monkeypatch.setattr(serve.time, "monotonic", lambda: clock)
    monkeypatch.setattr(serve.time, "sleep", waits.append)
    pace = serve._Pace()
    for _ in range(4):
        pace.wait()
    clock = 60.0
    pace.wait()
    assert waits == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.0])


@pytest.mark.parametrize("path", ["/", "/state", "/{wrong}/", "/{wrong}/state", "/{half}/state"])
def test_a_wrong_token_is_refused(tmp_path: Path, path: str) -> None:
    with serving(Greeting(), tmp_path / "run") as url:
        token = url.split("/")[3]
        wrong, half = token[:-1] + ("a" if token[-1] != "a" else "b"), token[:8]
        status, body = get(url, path.format(wrong=wrong, half=half))
    assert status == 404
    assert "Hello" not in body


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "[::1]"])
def test_another_host_is_refused(tmp_path: Path, host: str) -> None:
    """A name of elsewhere that points to this machine would make its page one of ours."""
    with serving(Greeting(), tmp_path / "run") as url:
        status, body = get(url, f"/{url.split('/')[3]}/", host=host)
    assert status == 400
    assert "Hello" not in body


def test_nothing_can_be_changed_and_nothing_is_heard_from_other_machines(tmp_path: Path) -> None:
    with serving(Greeting(), tmp_path / "run") as url:
        assert get(url, f"/{url.split('/')[3]}/state", method="POST")[0] == 405
    server, _ = listen(tmp_path / "run")
    with server:
        assert server.getsockname()[0] == "127.0.0.1"


def test_a_folder_has_one_address(tmp_path: Path) -> None:
    with serving(Greeting(), tmp_path / "run") as first:
        pass
    with serving(Greeting(), tmp_path / "run") as again:
        pass
    with serving(Greeting(), tmp_path / "other") as other:
        pass
    assert first == again
    assert first.split("/")[3] != other.split("/")[3]
    for file in (user_cache() / "live").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_port_that_is_taken_and_a_damaged_note_give_another_address(tmp_path: Path) -> None:
    server, before = listen(tmp_path / "run")
    with server:
        second, beside = listen(tmp_path / "run")
        second.close()
    assert beside.port != before.port
    assert beside.token == before.token
    (note,) = (user_cache() / "live").iterdir()
    for damaged in ("", "{}", '{"port": 99999999, "token": "x"}', "[1]"):
        note.write_text(damaged)
        third, fresh = listen(tmp_path / "run")
        third.close()
        assert fresh.token != before.token
    assert isinstance(third, socket.socket)
