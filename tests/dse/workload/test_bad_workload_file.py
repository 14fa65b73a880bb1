"""Workload files that are refused, each with the place and the reason, and random edits."""

import json
import random

import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.yaml_loader import parse_yaml
from paretosoc.dse.workload.workload_check import check_workload
from paretosoc.dse.workload.workload_file import load_workload, read_workload
from tests.support.problems.workload_texts import EXAMPLES, FULL, read

BAD = {
    "": ["must be an object", "got null"],
    "[]": ["must be an object", "a list of 0"],
    "{}": ["must have networks"],
    "networks: []": ["networks", "at least 1 item"],
    "networks: vgg19": ["networks must be a list", '"vgg19"'],
    "networks: [vgg19]": ["networks[0] must be an object", '"vgg19"'],
    "networks: [{}]": ["networks[0] must have network"],
    "networks: [{network: vgg18}]": ["networks[0].network", "'vgg18'", "vgg19"],
    "networks: [{network: a/b.onnx}]": ["networks[0].network", "'a/b.onnx'", "no file"],
    "networks: [{network: 3}]": ["networks[0].network must be a text", "got 3"],
    "networks: [{network: ''}]": ["networks[0].network must", "1 character"],
    "networks: [{network: vgg19, wait_for: []}]": [
        "networks[0] must not have 'wait_for' (did you mean waits_for?)"
    ],
    "fps: 3\nnetworks: [{network: vgg19}]": ["'fps'", "frames_per_second"],
    "networks: [{network: vgg19, copies: 0}]": ["networks[0].copies", "at least 1", "got 0"],
    "networks: [{network: vgg19, copies: 65}]": ["networks[0].copies", "at most 64", "got 65"],
    "networks: [{network: vgg19, copies: 2.0}]": ["copies must be an integer", "got 2.0"],
    "networks: [{network: vgg19, copies: 0x2}]": ["copies must be an integer", "0x2"],
    "networks: [{network: vgg19, copies: 010}]": ["copies must be an integer", "010"],
    "networks: [{network: vgg19, repeats: 1_0}]": ["repeats must be an integer", "1_0"],
    "networks: [{network: vgg19, repeats: true}]": ["repeats must be an integer", "true"],
    "networks: [{network: vgg19, repeats: 0}]": ["networks[0].repeats", "at least 1"],
    "networks: [{network: vgg19, repeats: 1001}]": ["repeats", "at most 1000", "1001"],
    "networks: [{network: vgg19, arrival_ms: -1}]": ["arrival_ms", "at least 0", "got -1"],
    "networks: [{network: vgg19, arrival_ms: .inf}]": ["arrival_ms must be a number"],
    "networks: [{network: vgg19, arrival_ms: .nan}]": ["arrival_ms must be a number"],
    "networks: [{network: vgg19, arrival_ms: 1:30}]": ["arrival_ms must be a number"],
    "networks: [{network: vgg19, arrival_ms: 1e999}]": ["line 1", "exponent"],
    "networks: [{network: vgg19, arrival_ms: 2024-01-01}]": ["arrival_ms", "must be a number"],
    "networks: [{network: vgg19, deadline_ms: 0}]": ["deadline_ms must be above 0", "got 0"],
    "networks: [{network: vgg19, deadline_ms: 1e10}]": ["deadline_ms must be at most", "1E+10"],
    "networks: [{network: vgg19, deadline_ms: }]": ["deadline_ms must be a number", "null"],
    "networks: [{network: vgg19, min_rate_hz: 0}]": ["min_rate_hz must be above 0", "got 0"],
    "networks: [{network: vgg19, min_rate_hz: 1e10}]": ["min_rate_hz must be at most", "1E+10"],
    "networks: [{network: vgg19, max_transitions: -1}]": ["max_transitions", "at least 0"],
    "networks: [{network: vgg19, name: a b}]": ["networks[0].name must match", "a b"],
    'networks: [{network: vgg19, name: "a\\n"}]': ["line 1", "control characters"],
    "networks: [{network: vgg19}, {network: vgg19}]": ["networks[1].name", "unique", "copies"],
    "networks: [{network: vgg19, copies: 3}, {network: resnet50, name: vgg19}]": [
        "networks[1].name",
        "networks[0]",
    ],
    "networks: [{network: vgg19, waits_for: vgg19}]": ["waits_for must be a list"],
    "networks: [{network: vgg19, waits_for: [x, x]}]": ["waits_for must not have an item twice"],
    "networks: [{network: vgg19, waits_for: [vgg18]}]": ["waits_for[0]", "'vgg19'", "'vgg18'"],
    "networks: [{network: vgg19, waits_for: [vgg19]}]": ["circle", "'vgg19' for 'vgg19'"],
    "networks: [{network: vgg19, copies: 2, waits_for: [vgg19]}]": ["circle"],
    "networks: [{network: vgg19, waits_for: [a]}, {network: vgg16, name: a, waits_for: [vgg19]}]": [
        "circle",
        "'vgg19' for 'a'",
        "'a' for 'vgg19'",
    ],
    "networks: [{network: vgg19, pins: [{first: 0}]}]": ["networks[0].pins[0] must have unit"],
    "networks: [{network: vgg19, pins: [{first: -1, unit: gpu}]}]": ["pins[0].first", "at least 0"],
    "networks: [{network: vgg19, pins: [{first: 3, last: 2, unit: gpu}]}]": [
        "networks[0].pins[0].last",
        "(3)",
        "got 2",
    ],
    "networks: [{network: vgg19, dimensions: {N: 0}}]": ["dimensions.N must be at least 1"],
    'networks: [{network: vgg19, dimensions: {"a\\nb": x}}]': ["line 1", "control characters"],
    "networks: [{network: vgg19, dimensions: {'': 1}}]": ["networks[0].dimensions", "1 character"],
    "networks: [{network: vgg19, grows: {N: 0}}]": ["grows.N must be at least 1"],
    "networks: [{network: vgg19, grows: {N: 1}}]": ["'N' needs a size", "there are none"],
    "networks: [{network: vgg19, continues: vgg16}]": ["networks[0].continues", "'vgg16'"],
    "networks: [{network: vgg19, copies: 2}, {network: vgg19, name: b, continues: vgg19}]": [
        "networks[1].continues",
        "as many copies",
    ],
    "frames_in_flight: 0\nnetworks: [{network: vgg19}]": ["frames_in_flight", "at least 1"],
    "frames_in_flight: 9\nnetworks: [{network: vgg19}]": ["frames_in_flight", "at most 8"],
    "frames_per_second: 0\nnetworks: [{network: vgg19}]": ["frames_per_second", "above 0"],
    "power_cap_w: 0\nnetworks: [{network: vgg19}]": ["power_cap_w", "above 0"],
    "frames_per_second: no\nnetworks: [{network: vgg19}]": ["frames_per_second", "'no'"],
    "networks: [{network: vgg19, network: vgg16}]": ["line 1", "'network'", "twice"],
    "networks: [{network: vgg19}]\nnetworks: []": ["line 2", "'networks'", "twice"],
    "a: &x [1]\nb: *x": ["alias *x", "line 2, column 4"],
    "a: !!python/object/apply:os.system [ls]": ["line 1", "tags are not taken", "python"],
    "a: !!set {x}": ["line 1", "tags are not taken", "'!!set'"],
    "a: !own 3": ["tags are not taken", "'!own'"],
    "? [a, b]\n: 1": ["keys must be texts", "list or mapping"],
    "1: 2": ["keys must be texts", "'1'"],
    "networks: [{network: vgg19, <<: {copies: 2}}]": ["networks[0]", "'<<'"],
    "networks: [": ["must be YAML", "line 1, column"],
    "a: 'b": ["must be YAML", "line 1, column"],
    "\ta: b": ["must be YAML"],
    "a: b\n---\nc: d": ["must be YAML", "another document", "line 2"],
    "a: \x07": ["must be YAML"],
    'a: "\\UFFFFFFFF"': ["must be YAML"],
    "[" * 5000: ["moderate depth"],
    "x: [" + "1," * 60_000 + "]": ["must be YAML", "50000 entries"],
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: repr(text)[:60])
def test_bad_files_are_refused_with_place_and_reason(text):
    with pytest.raises(WorkloadError) as caught:
        read(text, "some/w.yaml")
    message = str(caught.value)
    assert message.startswith("some/w.yaml: ")
    assert "$." not in message
    assert message.isprintable()
    assert len(message) < 700
    for part in BAD[text]:
        assert part in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "must be JSON"),
        ("{'networks': []}", "must be JSON"),
        ('{"networks": [], "networks": []}', "'networks' is there twice"),
        ('{"networks": [{"network": "vgg19", "arrival_ms": NaN}]}', "finite, got NaN"),
        ('{"networks": [{"network": "vgg19", "arrival_ms": 1e99}]}', "exponent"),
        ('{"networks": [{"network": "\\ud800"}]}', "control characters"),
        ('{"networks": [{"network": "\\u0000"}]}', "control characters"),
        ('{"networks": [{"network": "vgg19", "copies": 1.0}]}', "an integer, got 1.0"),
        ("[" * 100_000, "moderate depth"),
    ],
)
def test_bad_json_is_refused(text, part):
    with pytest.raises(WorkloadError) as caught:
        read(text, "w.json")
    assert str(caught.value).startswith("w.json: ")
    assert part in str(caught.value)
    assert str(caught.value).isprintable()


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(WorkloadError, match=r"none\.yaml: cannot be read: No such file"):
        load_workload(tmp_path / "none.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(WorkloadError, match=r"folder\.yaml: cannot be read"):
        load_workload(tmp_path / "folder.yaml")
    with pytest.raises(WorkloadError, match="cannot be read"):
        load_workload("a\0b.yaml")
    (tmp_path / "large.yaml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(WorkloadError, match="at most 1000000 bytes"):
        load_workload(tmp_path / "large.yaml")
    (tmp_path / "large.yaml").write_bytes(b"#" * 999_000 + b"\nnetworks: [{network: vgg19}]")
    assert len(load_workload(tmp_path / "large.yaml").networks) == 1
    with pytest.raises(WorkloadError, match=r"w\.yaml: must be YAML in UTF-8"):
        read_workload("networks: [{network: é}]".encode("latin-1"), "w.yaml")
    with pytest.raises(WorkloadError, match=r"w\.json: must be JSON in UTF-8"):
        read_workload(b'{"networks": "\xff"}', "w.json")


def test_aliases_that_would_unfold_to_gigabytes_are_refused_at_once():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(WorkloadError, match=r"alias \*a0"):
        read("\n".join(lines))


def junk(generator):
    return generator.choice(
        [None, True, -1, 0, 7, 10**25, "x", "vgg19", "seen", [], {}, [1], {"first": 1}, 1e-9, 2.5]
    )


def edited(document, generator):
    """The document with one value replaced, removed or doubled."""
    places = []

    def walk(value):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in list(keys):
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    document = json.loads(json.dumps(document))
    walk(document)
    holder, key = generator.choice(places)
    match generator.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.append(holder[key])
        case 2 if isinstance(holder, dict):
            holder[generator.choice(["copies", "name", "x", "waits_for", "pins"])] = junk(generator)
        case _:
            holder[key] = junk(generator)
    return document


def accepted(text, name):
    """Whether a text is taken; what is taken is sound, what is not gives one printable line."""
    try:
        workload = read_workload(text, name)
    except WorkloadError as error:
        message = str(error)
    else:
        check_workload(workload)
        for network in workload.networks:
            assert network.repeats >= 1
            assert network.arrival_ms >= 0
        return True
    assert message.startswith(f"{name}: ")
    assert message.isprintable()
    return False


def test_random_edits_of_documents_are_taken_or_refused():
    document = json.loads(json.dumps(parse_yaml(FULL.encode(), "w"), default=float))
    generator = random.Random(1)
    count = 0
    for _ in range(800):
        other = document
        for _ in range(generator.randrange(1, 4)):
            other = edited(other, generator)
            if not other:
                break
        text = json.dumps(other).encode()
        taken = accepted(text, "w.json")
        assert accepted(text, "w.yaml") is taken
        count += taken
    assert 40 < count < 700


def test_random_edits_of_bytes_are_taken_or_refused():
    generator = random.Random(2)
    sources = [FULL.encode(), *(path.read_bytes() for path in EXAMPLES)]
    letters = b"\0\t\n :-[]{},&*!|>'\"%@`#0123456789aeN.\x80\xc3\xff"
    count = 0
    for _ in range(800):
        data = bytearray(generator.choice(sources))
        for _ in range(generator.randrange(1, 4)):
            at = generator.randrange(len(data))
            end = min(len(data), at + generator.randrange(1, 12))
            match generator.randrange(4):
                case 0:
                    data[at] = generator.choice(letters)
                case 1:
                    del data[at:end]
                case 2:
                    data[at:at] = data[generator.randrange(len(data)) :][:9]
                case _:
                    data.insert(at, generator.choice(letters))
        count += accepted(bytes(data), generator.choice(["w.yaml", "w.json"]))
    assert 20 < count < 700
