"""``--to llama-cpp``: the tensors that the options keep on the CPU are those of the mapping."""

import re
import shlex
import subprocess

import pytest

from paretosoc.dse.cli.main import run
from paretosoc.results.deploy.llama_script import llama_options

WORKLOAD = """
networks:
  - {name: prefill, network: qwen2-0.5b, dimensions: {sequence: 16}}
  - {name: decode, network: qwen2-0.5b, continues: prefill, dimensions: {sequence: 1, past: 16},
     grows: {past: 1}, repeats: 4}
"""
BLOCK = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output")
FEED_FORWARD = ("ffn_norm", "ffn_gate", "ffn_up", "ffn_down")


def on_cpu(options, blocks):
    """Names of tensors in GGUF that llama.cpp's rules leave on the CPU, but for the embedding."""
    tensors = [f"blk.{b}.{name}.weight" for b in range(blocks) for name in (*BLOCK, *FEED_FORWARD)]
    tensors += ["output_norm.weight", "output.weight"]
    if options[:2] == ["-ngl", "0"]:
        return set(tensors)
    assert options[:2] == ["-ngl", "999"]
    rules = [rule.rpartition("=") for rule in options[3].split(",")] if options[2:] else []
    assert all(place == "CPU" for *_, place in rules)
    return {name for name in tensors if any(re.search(rule, name) for rule, *_ in rules)}


@pytest.mark.parametrize(
    "cpu",
    [
        set(),
        {(0, "attn"), (0, "ffn"), (1, "attn")},
        {(2, "ffn"), (-1, "output")},
        {(b, part) for b in range(12) for part in ("attn", "ffn")},
        {(1, "attn"), (1, "ffn"), (11, "attn"), (11, "ffn")},
    ],
)
def test_options_keep_the_placement(cpu):
    parts = [(b, part) for b in range(12) for part in ("attn", "ffn")] + [(-1, "output")]
    options = llama_options({part: part not in cpu for part in parts})
    expected = {
        name
        for name in on_cpu(["-ngl", "0"], 12)
        if any(
            name.startswith("output") if b < 0 else name.startswith(f"blk.{b}.{part}")
            for b, part in cpu
        )
    }
    assert on_cpu(options, 12) == expected
    assert on_cpu(llama_options(dict.fromkeys(parts, False)), 12) == on_cpu(["-ngl", "0"], 12)


def test_a_script_of_an_assistant(tmp_path, dse):
    (tmp_path / "w.yaml").write_text(WORKLOAD)
    command = ["explore", str(tmp_path / "w.yaml"), "-p", "jetson-agx-orin", "--runtime", "none"]
    command += [
        "--units",
        "cpu,gpu",
        "--groups",
        "4",
        "--max-evaluations",
        "60",
        "--max-nodes",
        "0",
    ]
    for group, unit in enumerate(("gpu", "cpu", "gpu", "gpu")):
        command += ["--fix", f"decode:{group}={unit}", "--fix", f"prefill:{group}=gpu"]
    assert run([*command, "-q", "-o", str(tmp_path / "run")]) == 0
    outcome = dse("deploy", tmp_path / "run", "--to", "llama-cpp", "-o", tmp_path / "out")
    assert outcome.status == 0, outcome.err
    assert "prefill:" in outcome.out
    assert "whose placement llama.cpp has for both" in outcome.out
    ran = subprocess.run(
        ["sh", tmp_path / "out" / "decode.llama.sh", "a.gguf", "-n", "8"],
        env={"LLAMA": "echo", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    words = shlex.split(ran.stdout)
    assert words[:2] == ["-m", "a.gguf"]
    assert words[-2:] == ["-n", "8"]
    kept = on_cpu(words[2:-2], 24)
    assert {name.split(".")[1] for name in kept} < {str(b) for b in range(24)}
    assert 0.1 < len(kept) / len(on_cpu(["-ngl", "0"], 24)) < 0.5


def test_a_network_that_reads_from_another_is_no_phase_of_it(tmp_path, dse):
    (tmp_path / "w.yaml").write_text(
        "tasks:\n"
        "  - {name: decode, times: [{unit: cpu, ms: 4}]}\n"
        "  - {name: suppress, reads_mb: {detect: 2}, times: [{unit: cpu, ms: 2}]}\n"
        "networks:\n"
        "  - {name: detect, network: squeezenet, reads_mb: {decode: 3}}\n"
    )
    command = ["explore", str(tmp_path / "w.yaml"), "-p", "jetson-orin-nano-8gb", "--groups", "2"]
    command += ["--max-evaluations", "50", "--max-nodes", "0"]
    assert run([*command, "-q", "-o", str(tmp_path / "run")]) == 0
    outcome = dse("deploy", tmp_path / "run", "--to", "llama-cpp", "-o", tmp_path / "out")
    assert (outcome.status, len(outcome.lines)) == (2, 1)
    assert "llama.cpp runs language models" in outcome.err
    assert "llama-cpp" not in dse("show", tmp_path / "run", "--member", "0").out


def test_others_are_refused_in_a_line(tmp_path, dse, pair_folder):
    outcome = dse("deploy", pair_folder, "--to", "llama-cpp", "-o", tmp_path / "out")
    assert (outcome.status, len(outcome.lines)) == (2, 1)
    assert "a network with a phase that continues it is required" in outcome.err
