"""Kill commands at random moments, and run them again.

    python -m benchmarks.robustness.kills --count 200

Commands that search, prove, write a report or a deployment, run a campaign (on processes, and on a
Dask cluster) or execute networks are ended by SIGKILL, SIGTERM or SIGINT, at moments spread over
the time that an undisturbed run takes. Then the same command is run to its end, or
``dse certify`` if it has left a checkpoint or a front. Prints a line per finding: a process that
stays, an unexpected file, a result that differs from the undisturbed one, or a repetition that
fails. Then it prints kills per command and signal. Exit status 1: there are findings.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

XAVIER = ("-p", "jetson-agx-xavier")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
GRACE_S = 60.0
"""For workers to see that their parent has gone, on a machine that is busy."""
CAMPAIGN = """title: Six runs
networks: [squeezenet, alexnet, resnet18]
together: 2
platforms: [jetson-agx-xavier, jetson-agx-orin-32gb]
group_counts: [3]
evaluations: [200]
"""


@dataclass(frozen=True)
class Target:
    """A command to kill. ``{}`` stands for a folder of its own, with a front to work on.

    ``again`` is run after a kill, ``else_again`` if that is refused. ``outcome`` must be equal
    afterwards, ``expected`` are files that may be in the folder.
    """

    command: tuple[str, ...]
    again: tuple[str, ...]
    else_again: tuple[str, ...] | None
    outcome: Callable[[Path], Any]
    expected: frozenset[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, kill, print the findings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="number of kills")
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--target", choices=_targets(), action="append", help="default: all")
    given = parser.parse_args(arguments)
    # A shell ignores it in the background, and children would.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    names = given.target or list(_targets())
    with tempfile.TemporaryDirectory() as folder, _dask("campaign-dask" in names) as address:
        found = Kills(Path(folder), random.Random(given.seed), address).run(names, given.count)
    return 1 if found else 0


class Kills:
    """Kills and their consequences."""

    def __init__(self, scratch: Path, rng: random.Random, address: str) -> None:
        self._scratch, self._rng, self._address = scratch, rng, address
        self._front, self._host = scratch / "front", scratch / "host-front"
        self._killed: Counter[tuple[str, str]] = Counter()
        self._ended_before: Counter[str] = Counter()
        self._findings = 0

    def run(self, names: Sequence[str], count: int) -> int:
        """Kill ``count`` times, the commands by turns. Return the number of findings."""
        pair = ("explore", "squeezenet", "alexnet")
        _check(self._dse((*pair, *_SMALL, "--max-nodes", "0", "-o", str(self._front))))
        if "run" in names:
            self._profile()
        undisturbed: dict[str, tuple[float, Any]] = {}
        for number in range(count):
            name = names[number % len(names)]
            target = _targets()[name]
            if name not in undisturbed:
                undisturbed[name] = self._undisturbed(target)
            seconds, outcome = undisturbed[name]
            used = SIGNALS[(number // len(names)) % len(SIGNALS)]
            for finding in self._kill(name, target, used, seconds, outcome):
                self._findings += 1
                print(f"{name} {number} {used.name}: {finding}", flush=True)
        for name in names:
            kills = ", ".join(f"{used.name} {self._killed[name, used.name]}" for used in SIGNALS)
            print(f"{name:16} {kills}; ended before: {self._ended_before[name]}")
        print(f"{self._killed.total()} kills, {self._findings} findings")
        return self._findings

    def _profile(self) -> None:
        """Make a front of this machine, whose members ``dse run`` can execute."""
        host, network = self._scratch / "host", ("squeezenet", "--groups", "3")
        _check(self._dse(("profile", *network, "--frames", "3", "-q", "-o", str(host))))
        measured = ("-p", str(host / "platform.json"), "--profile", str(host / "profile.json"))
        searched = ("--max-evaluations", "100", "--max-nodes", "0", "-q", "-o", str(self._host))
        _check(self._dse(("explore", *network, *measured, *searched)))

    def _undisturbed(self, target: Target) -> tuple[float, Any]:
        folder = self._fresh()
        began = time.monotonic()
        _check(self._dse(self._filled(target.command, folder)))
        return time.monotonic() - began, target.outcome(folder)

    def _kill(
        self, name: str, target: Target, used: signal.Signals, seconds: float, outcome: Any
    ) -> Iterator[str]:
        folder, shared = self._fresh(), _shared_memory()
        process = self._start(self._filled(target.command, folder))
        try:
            process.wait(self._rng.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(used)
        _, said = process.communicate(timeout=GRACE_S)
        if process.returncode == 0:
            self._ended_before[name] += 1
        else:
            self._killed[name, used.name] += 1
        if b"Traceback" in said and process.returncode not in (-9, -15):
            yield f"a traceback: {said[-300:]!r}"
        if stay := _running_in(folder):
            yield f"processes stay: {stay}"
        again = self._dse(self._filled(target.again, folder))
        if again.returncode == 2 and target.else_again is not None:
            again = self._dse(self._filled(target.else_again, folder))
        if again.returncode:
            yield f"the repetition ends with {again.returncode}: {again.stderr[-300:]!r}"
            return
        if target.outcome(folder) != outcome:
            yield "the result differs from the undisturbed one"
        if left := _all_in(folder) - target.expected:
            yield f"left behind: {sorted(left)}"
        if left := _shared_memory() - shared:
            yield f"shared memory left behind: {sorted(left)}"

    def _fresh(self) -> Path:
        folder = self._scratch / "work"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tmp").mkdir(parents=True)
        for front in (self._front, self._host):
            if front.exists():
                shutil.copytree(front, folder / front.name)
        (folder / "campaign.yaml").write_text(CAMPAIGN)
        return folder

    def _filled(self, parts: Sequence[str], folder: Path) -> list[str]:
        return [part.replace("{}", str(folder)).replace("{dask}", self._address) for part in parts]

    def _start(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "paretosoc", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(self._scratch / "work" / "tmp")},
        )

    def _dse(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        (self._scratch / "work" / "tmp").mkdir(parents=True, exist_ok=True)
        process = self._start(arguments)
        _, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, b"", err)


_SMALL = (
    *(*XAVIER, "--units", "gpu,dla0", "--groups", "3", "--fix", "emc=max"),
    *("--max-evaluations", "2000", "--jobs", "2", "-q"),
)


def _targets() -> dict[str, Target]:
    explore = ("explore", "squeezenet", "alexnet", *_SMALL, "-o", "{}/out")
    search = (*explore, "--checkpoint", "{}/search.npz")
    certify = ("certify", "{}/out", "-q")
    proof = ("certify", "{}/front", "-q")
    report = ("report", "{}/front")
    deploy = ("deploy", "{}/front", "--to", "trtexec", "-o", "{}/out", "--no-check")
    campaign = ("campaign", "run", "{}/campaign.yaml", "-o", "{}/out", "-q")
    local, dask = (*campaign, "--jobs", "2"), (*campaign, "--dask", "{dask}")
    # A frame's group that is lost or doubled is exit status 1.
    run = ("run", "{}/host-front", "--seconds", "1.5")
    given = frozenset({"tmp", "front", "host-front", "campaign.yaml"})
    written = given | {"out"}
    return {
        "explore": Target(search, search, certify, _front_of("out"), written | {"search.npz"}),
        "certify": Target(proof, proof, None, _front_of("front"), given),
        "report": Target(report, (*report, "--force"), None, _page, given),
        "deploy": Target(deploy, (*deploy, "--force"), None, _files_of("out"), written),
        "campaign": Target(local, local, None, _runs, written),
        "campaign-dask": Target(dask, dask, None, _runs, written),
        "run": Target(run, run, None, lambda _: None, given),
    }


def _front_of(name: str) -> Callable[[Path], Any]:
    """Return a function that reads the members of a result and the claims about them."""

    def read(folder: Path) -> Any:
        front = json.loads((folder / name / "front.json").read_bytes())
        proofs = [front.get(proof) or {} for proof in ("certificate", "epsilon")]
        claims = [[proof.get(key) for key in ("status", "objectives")] for proof in proofs]
        return [[member["objectives"], member["mapping"]] for member in front["members"]], claims

    return read


def _page(folder: Path) -> Any:
    return (folder / "front" / "report.html").read_bytes()


def _files_of(name: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        paths = sorted((folder / name).rglob("*"))
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in paths
            if path.is_file() and path.name != "deployment.json"
        }

    return read


def _runs(folder: Path) -> Any:
    """Return the status of each run and the numbers of its front, once no run is in hand any
    more."""
    from paretosoc.dse.tools.campaign.store.store import Store

    for name in ("parts", "owners"):
        assert not list((folder / "out" / name).iterdir()), name
    with Store(folder / "out") as store:
        return [(run.hash, run.status, run.figures) for run in store.records()]


def _all_in(folder: Path) -> set[str]:
    """Names in the folder, and of hidden or temporary files anywhere below it."""
    names = {path.name for path in folder.iterdir()}
    hidden = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.name.startswith(".") or path.name.endswith(".part")
    }
    temporary = {str(path.relative_to(folder)) for path in (folder / "tmp").iterdir()}
    return names | hidden | {name for name in temporary if "jit-" not in name}


def _shared_memory() -> set[str]:
    """Names of Python's shared memory that no process has mapped."""
    mapped = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            mapped.append(maps.read_text())
    held = "\n".join(mapped)
    return {path.name for path in Path("/dev/shm").glob("psm_*") if path.name not in held}


def _running_in(folder: Path) -> list[str]:
    """Return the command lines of processes that a killed command has started and that do not
    end."""
    end = time.monotonic() + GRACE_S
    while True:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    marked = f"TMPDIR={folder}/tmp\0".encode() in (entry / "environ").read_bytes()
                    state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                except (OSError, ValueError):
                    continue
                if marked and state != "Z":
                    found.append(line)
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.1)


@contextmanager
def _dask(wanted: bool) -> Iterator[str]:
    """Provide the address of a cluster of two processes."""
    if not wanted:
        yield ""
        return
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def _check(done: subprocess.CompletedProcess[bytes]) -> None:
    if done.returncode:
        raise SystemExit(f"{done.args}: {done.stderr.decode()}")


if __name__ == "__main__":
    sys.exit(main())
