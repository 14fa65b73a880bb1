"""Variants of networks in workload files: what they inherit, their choice, and what is refused."""

from __future__ import annotations

import itertools

import pytest

import paretosoc
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import FIELDS, Options
from paretosoc.dse.workload.read_options import read_options
from paretosoc.dse.workload.variants import combinations, with_variants
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import read_workload
from paretosoc.results.problem.problem_file import problem_bytes
from paretosoc.sdf.catalogue.catalogue import catalogue

TWO = """\
free_running: true
networks:
  - name: detect
    variants: [{network: yolo11n}, {network: yolo11s}, {network: yolo11m}]
    copies: 2
  - name: classify
    network: resnet50
    variants: [{variant: one}, {variant: eight, batch: 8}]
  - network: squeezenet
"""


def read(text: str) -> Workload:
    return read_workload(text.encode(), "w.yaml")


def chosen(**given: object) -> Options:
    return read_options(given)


def test_keys_that_a_variant_leaves_out_are_those_of_the_network() -> None:
    network = read(TWO).networks[2]
    assert [(each.name, each.source, each.batch) for each in network.variants] == [
        ("one", "resnet50", 1),
        ("eight", "resnet50", 8),
    ]


def test_the_accuracy_is_that_of_the_catalogue_at_its_own_input() -> None:
    known = {entry.name: entry.accuracy for entry in catalogue()}
    for network in read(TWO).networks[:3]:
        for variant in network.variants:
            assert variant.accuracy is not None
            assert variant.accuracy == known[variant.source]
            assert variant.accuracy.source.startswith("https://")
    text = "networks: [{name: a, network: yolo11n, variants: [{dimensions: {x: 320}}]}]"
    assert read(text).networks[0].variants[0].accuracy is None
    given = text.replace("dimensions: {x: 320}", "accuracy_percent: 31.5")
    accuracy = read(given).networks[0].variants[0].accuracy
    assert accuracy is not None
    assert (accuracy.percent, accuracy.metric) == (31.5, "")


def test_combinations_are_the_product_and_copies_share_a_choice() -> None:
    workload = read(TWO)
    found = combinations(workload, Options())
    names = [(each.names["detect"], each.names["classify"]) for each in found]
    sizes = ("yolo11n", "yolo11s", "yolo11m")
    assert names == list(itertools.product(sizes, ("one", "eight")))
    for each in found:
        networks = with_variants(workload, chosen(variants=each.names)).networks
        assert [network.source for network in networks] == [
            each.names["detect"],
            each.names["detect"],
            "resnet50",
            "squeezenet",
        ]
        assert networks[2].batch == (8 if each.names["classify"] == "eight" else 1)
        assert not any(network.variants for network in networks)


@pytest.mark.parametrize(
    ("least", "left"),
    [
        (46, ["yolo11s", "yolo11m"]),
        (47, ["yolo11s", "yolo11m"]),
        ({"detect": 47.1}, ["yolo11m"]),
    ],
)
def test_a_minimum_accuracy_leaves_variants_out(least: object, left: list[str]) -> None:
    found = combinations(read(TWO), chosen(min_accuracy_percent=least))
    assert list(dict.fromkeys(each.names["detect"] for each in found)) == left
    file = TWO.replace("copies: 2", "copies: 2\n    min_accuracy_percent: 51")
    found = combinations(read(file), chosen(min_accuracy_percent=least))
    assert {each.names["detect"] for each in found} == {"yolo11m"}


def test_a_choice_makes_an_ordinary_problem() -> None:
    variants = {"detect": "yolo11n", "classify": "eight"}
    networks = [("yolo11n", 1), ("yolo11n", 1), ("resnet50", 8), ("squeezenet", 1)]
    problem = paretosoc.Problem(
        with_variants(read(TWO), chosen(variants=variants)), "jetson-orin-nano-8gb", groups=2
    )
    assert [(each.reference, each.batch) for each in problem.built.sources] == networks
    again = paretosoc.Problem(read(TWO), "jetson-orin-nano-8gb", groups=2, variants=variants)
    assert problem_bytes(again.numeric) == problem_bytes(problem.numeric)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, r"network 'detect': the choice of a variant is required.*yolo11n, yolo11s, yolo11m"),
        ({"variants": {"detect": "yolo11n"}}, "network 'classify': the choice of a variant"),
        ({"variants": {"detect": "yolo11", "classify": "one"}}, "has no variant 'yolo11'"),
        ({"variants": {"squeezenet": "one"}}, "no network 'squeezenet' with variants"),
        ({"min_accuracy_percent": {"squeezenet": 5}}, "no network 'squeezenet' with variants"),
        (
            {"variants": {"detect": "yolo11s", "classify": "one"}, "min_accuracy_percent": 50},
            "network 'detect': an accuracy of at least 50 % is required, got yolo11s 47",
        ),
        ({"variants": "yolo11n"}, "variants: a mapping such as"),
    ],
)
def test_choices_that_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        with_variants(read(TWO), chosen(**given))


def test_options_need_variants() -> None:
    workload = read("networks: [{network: squeezenet}]")
    for given in ({"min_accuracy_percent": 5}, {"variants": {"a": "b"}}):
        with pytest.raises(WorkloadError, match="variants"):
            with_variants(workload, chosen(**given))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("variants: [{network: yolo11n}]", r"networks\[0\] must have name, as it has variants"),
        ("name: a, variants: []", "at least 1 item"),
        ("name: a, variants: [{}]", r"networks\[0\].variants\[0\] must have network"),
        ("name: a, variants: [{network: yolo12}]", r"variants\[0\].network.*'yolo12'"),
        ("name: a, variants: [{model: yolo11n}]", r"must not have 'model'"),
        ("name: a, network: yolo11n, variants: [{}, {batch: 2}]", "'yolo11n' twice"),
        ("name: a, variants: [{network: yolo11n, accuracy_percent: 101}]", "at most 100"),
        (
            "name: a, variants: [{network: yolo11n}, {network: alexnet}]",
            "accuracy_percent of all or of none is required, got none of alexnet",
        ),
        (
            "name: a, variants: [{network: yolo11n}, {network: resnet50}]",
            "not comparable: COCO mAP 50-95, ImageNet-1K top-1",
        ),
        ("name: a, network: vgg19, variants: [{}, {variant: b, batch: 2}]", "batches differ"),
        ("network: vgg19, min_accuracy_percent: 3", "min_accuracy_percent needs variants"),
        ("name: a", r"networks\[0\] must have network or variants"),
    ],
)
def test_files_that_are_refused(entry: str, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        read(f"networks: [{{{entry}}}]")


def test_too_many_combinations_are_refused() -> None:
    sizes = ", ".join(f"{{variant: b{size}, batch: {size}}}" for size in range(1, 11))
    entries = ", ".join(
        f"{{name: n{k}, network: squeezenet, variants: [{sizes}]}}" for k in range(4)
    )
    workload = read(f"free_running: true\nnetworks: [{entries}]")
    with pytest.raises(WorkloadError, match="at most 1,000 combinations are possible, got 10,000"):
        combinations(workload, Options())
    one = chosen(variants={"n0": "b1"})
    assert len(combinations(workload, one)) == 1000


def test_a_minimum_of_an_unknown_accuracy_is_refused() -> None:
    workload = read("networks: [{name: a, variants: [{network: alexnet}, {network: caffenet}]}]")
    with pytest.raises(WorkloadError, match="network 'a': a minimum accuracy needs"):
        combinations(workload, chosen(min_accuracy_percent=5))


@pytest.mark.parametrize(
    ("option", "texts", "given"),
    [
        ("batch", ["a=1,2", "b=4"], {"a": [1, 2], "b": [4]}),
        ("batch", ["2,4"], {None: [2, 4]}),
        ("deadline_ms", ["10", "a=5"], {None: 10, "a": 5}),
        ("variants", ["detect=small"], {"detect": "small"}),
        ("objectives", ["latency", "energy"], ("latency", "energy")),
        ("groups", 4, 4),
    ],
)
def test_texts_are_given_to_the_library_as_it_takes_them(option, texts, given):
    kind = FIELDS[option].kind
    parsed = kind.parse(texts, option)
    assert kind.given(parsed) == given
    assert kind.read(kind.given(parsed), option) == parsed
