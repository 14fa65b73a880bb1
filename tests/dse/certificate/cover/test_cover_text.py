"""The text of the formula: plain clauses, the same bytes everywhere, lemmas that do not fit."""

import hashlib
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.certificate.cover.smtlib import cover_smtlib
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import LemmaTable
from tests.support.problems.cover_problems import SOLVERS, random_lemmas, small_problem, table

LITERAL = r"(?:[a-z]\w*|\(not [a-z]\w*\))"
LINES = re.compile(
    r"; [\x20-\x7e]*|\(set-logic QF_UF\)|\(declare-const [a-z](?:_\d+)+ Bool\)"
    rf"|\(assert \(or {LITERAL}(?: {LITERAL})* false\)\)|\(assert false\)|\(check-sat\)"
)


@pytest.mark.parametrize("seed", range(20))
def test_the_text_is_plain_clauses_of_declared_variables(seed):
    rng = np.random.default_rng(seed)
    problem = small_problem(seed)
    lines = cover_smtlib(problem, random_lemmas(rng, problem, 9)).splitlines()
    assert [line for line in lines if not LINES.fullmatch(line)] == []
    assert lines.count("(check-sat)") == 1
    assert lines[-1] == "(check-sat)"
    declared = [line.split()[1] for line in lines if line.startswith("(declare")]
    assert len(declared) == len(set(declared))
    used = {
        name
        for line in lines
        if line.startswith("(assert")
        for name in re.findall(r"\b[a-z](?:_\d+)+\b", line)
    }
    assert used <= set(declared)
    for name in [*problem.units, *problem.networks, *problem.domains]:
        assert any(line.startswith("; ") and line.endswith(name.name) for line in lines)


@pytest.mark.parametrize("solver", SOLVERS)
def test_names_cannot_leave_their_comment(solver):
    problem = small_problem(3)
    evil = "a\n(assert false)\r(assert false)\x0b\x0c\x00\x1a\x85\u2028é|\\"
    problem = replace(
        problem,
        networks=tuple(replace(n, name=evil, max_transitions=None) for n in problem.networks),
        units=tuple(replace(u, name=evil, max_segments=None) for u in problem.units),
        domains=tuple(replace(d, name=evil) for d in problem.domains),
    )
    text = cover_smtlib(problem, table(problem, []))
    assert text.isascii()
    assert all(LINES.fullmatch(line) for line in text.splitlines())
    assert solver(text).verdict == "sat"


HASH_OF_TEXT = """
import hashlib
import numpy as np
from paretosoc.dse.certificate.cover.smtlib import cover_smtlib
from tests.support.problems.cover_problems import random_lemmas, small_problem
problem = small_problem(7)
text = cover_smtlib(problem, random_lemmas(np.random.default_rng(7), problem, 9))
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_same_bytes_in_every_process(request):
    problem = small_problem(7)
    text = cover_smtlib(problem, random_lemmas(np.random.default_rng(7), problem, 9))
    done = subprocess.run(
        [sys.executable, "-c", HASH_OF_TEXT],
        capture_output=True,
        text=True,
        check=True,
        cwd=request.config.rootpath,
    )
    assert done.stdout.strip() == hashlib.sha256(text.encode()).hexdigest()


def replaced(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


def test_lemmas_that_do_not_fit_are_refused():
    problem = small_problem(5, groups=(3, 4), units=(2, 2), points=(3, 3), unsupported=0.5)
    g, u = np.argwhere(~problem.allowed)[0].tolist()
    d = next(d for d, domain in enumerate(problem.domains) if not domain.allowed.all())
    k = int(np.flatnonzero(~problem.domains[d].allowed)[0])
    good = random_lemmas(np.random.default_rng(5), problem, 4)
    units, points = good.units, good.points
    name = re.escape(problem.domains[d].name)
    bad = {
        rf"lemma 2: group {g} may not be on unit {u}": (replaced(units, (2, g), u), points),
        r"lemma 0: group 1 may not be on unit 9": (replaced(units, (0, 1), 9), points),
        r"lemma 3: group 0 may not be on unit -2": (replaced(units, (3, 0), -2), points),
        rf"lemma 1: .* point of {name}, got the set 0x0": (units, replaced(points, (1, d), 0)),
        rf"lemma 3: .* point of {name}, got the set {1 << k:#x}": (
            units,
            replaced(points, (3, d), 1 << k),
        ),
        r"units must be \[4, \d+\], got \[4, \d+\]": (units[:, 1:], points),
        r"points must be \[4, \d+\], got \[3, \d+\]": (units, points[1:]),
    }
    for complaint, (wrong_units, wrong_points) in bad.items():
        with pytest.raises(ResultError, match=complaint):
            cover_smtlib(problem, LemmaTable(wrong_units, wrong_points))
