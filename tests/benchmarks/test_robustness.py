"""A few broken inputs; the benchmark does the same by the thousand."""

import random

import pytest

from benchmarks.robustness import confined, mutated_inputs
from benchmarks.robustness.confined import Ended, complaint


@pytest.mark.parametrize("group", ["logs", "models", "results"])
def test_broken_inputs_end_with_plain_words(group, capfd):
    status = mutated_inputs.main(["--group", group, "--count", "40", "--seed", "7"])
    assert status == 0, capfd.readouterr().out


@pytest.mark.parametrize(
    ("ended", "word"),
    [
        (Ended(-9, "", "", 3.0), "signal 9"),
        (Ended(70, "", "dse: internal error\n", 0.1), "status 70"),
        (Ended(0, "a\x1b[31m", "", 0.1), "control character"),
        (Ended(2, "", "dse: ValueError: no\n", 0.1), "foreign words"),
        (Ended(2, "", "usage\n", 0.1), "no message of ours"),
        (Ended(2, "", "", 0.1), "no message of ours"),
    ],
)
def test_findings_are_found(ended, word):
    assert word in complaint(ended)


def test_a_command_that_takes_too_much_is_a_finding(tmp_path, monkeypatch):
    def endless(_):
        while True:
            random.random()

    def huge(_):
        return len(bytearray(1 << 31))

    monkeypatch.setattr(confined, "CPU_S", 1)
    monkeypatch.setattr(confined, "run", endless)
    assert "ended by signal" in complaint(confined.confined([], tmp_path))
    monkeypatch.setattr(confined, "run", huge)
    assert "status 99" in complaint(confined.confined([], tmp_path))
