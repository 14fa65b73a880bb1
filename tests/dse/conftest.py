"""The command line in-process, and small result folders to look at."""

from typing import NamedTuple

import pytest

from paretosoc.dse.cli.main import run

EXPLORE = (
    *("explore", "inception_v1", "squeezenet", "-p", "jetson-agx-xavier"),
    *("--units", "gpu,dla0", "--groups", "4", "-q"),
    *("--runtime", "none", "--max-transitions", "any"),
)


class Outcome(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def lines(self):
        return self.err.splitlines()


@pytest.fixture(scope="session", autouse=True)
def short_proofs():
    """Proofs that tests do not limit end after few boxes and nodes, not after half a minute. By the
    formulation only the smallest problems are proved: it takes most of a small exploration."""
    from paretosoc.dse.certificate import certify, strategy
    from paretosoc.dse.certificate.boxes import prove

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prove, "MIN_BOXES", 12)
        patch.setattr(prove, "MAX_BOXES", 12)
        patch.setattr(certify, "DEFAULT_NODES", 250_000)
        patch.setattr(strategy, "FEW_PARTS", 8)
        yield


@pytest.fixture
def dse(capsys, monkeypatch):
    """Runs a command: exit status, stdout, stderr."""
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments):
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


def explored(folder, *more, evaluations=500):
    budget = ("--max-evaluations", str(evaluations))
    assert run([*EXPLORE, *more, *budget, "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def pair_folder(tmp_path_factory):
    """Two networks on Xavier's GPU and a DLA."""
    return explored(tmp_path_factory.mktemp("results") / "pair")


@pytest.fixture(scope="session")
def other_pair_folder(tmp_path_factory):
    """The same problem, searched less and with another seed."""
    folder = tmp_path_factory.mktemp("results") / "other"
    return explored(folder, "--engine", "nsga2", "--seed", "7", evaluations=60)


@pytest.fixture(scope="session")
def capped_folder(tmp_path_factory):
    """The same networks with the GPU's clock fixed, a power cap, and a deadline."""
    folder = tmp_path_factory.mktemp("results") / "capped"
    return explored(folder, "--fix", "gpu=max", "--power-cap", "40", "--deadline", "squeezenet=100")


@pytest.fixture(scope="session")
def exact_with_costs():
    """The exact front of a small problem, verified fast, and where its costs are from."""
    from tests.support.proofs.tampered_folder import small_exact_front

    return small_exact_front()


@pytest.fixture(scope="session")
def explored_exactly(exact_with_costs):
    """The front alone."""
    return exact_with_costs[0]


@pytest.fixture(scope="session")
def certified(exact_with_costs, tmp_path_factory):
    """A certified result folder: never written to."""
    from tests.support.proofs.tampered_folder import certified_folder

    folder = tmp_path_factory.mktemp("certified") / "result"
    return certified_folder(*exact_with_costs, folder)


@pytest.fixture
def files(certified, tmp_path, monkeypatch):
    """Its contents, to be changed."""
    from tests.support.proofs.tampered_folder import files_of

    return files_of(certified, tmp_path, monkeypatch)
