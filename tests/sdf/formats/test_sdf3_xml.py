"""SDF3 files: round trips, refusals, and bytes that make no sense."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.sdf.analysis.repetition import repetition_vector
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.graph_json import read_graph
from paretosoc.sdf.formats.sdf3_writer import format_sdf3
from paretosoc.sdf.formats.sdf3_xml import MAX_ENTRIES, MAX_NUMBER, parse_sdf3
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.rates import PerPhase, per_phase
from tests.support.texts import one_line

EXAMPLES = Path(__file__).parents[3] / "examples" / "sdf"

# All that XML 1.0 can hold in one line: quotes and characters beyond 16 bits among it.
XML_TEXT = one_line(
    st.characters(
        exclude_categories=("Cs", "Cc"),
        exclude_characters="\ufffe\uffff",
        include_characters="\"'<>&",
    ),
    min_size=1,
    max_size=6,
)


@st.composite
def figures(draw: st.DrawFn, phases: int, least: int) -> PerPhase:
    """One number per phase, in which 0 may stand for ``least``."""
    one = st.one_of(st.integers(least, 9), st.integers(least, MAX_NUMBER))
    some = st.lists(st.one_of(st.just(0), one), min_size=phases, max_size=phases)
    values = per_phase(draw(some))
    return draw(one) if values == 0 else values


@st.composite
def any_graph(draw: st.DrawFn) -> SdfGraph:
    names = draw(st.lists(XML_TEXT, max_size=5, unique=True))
    most_phases = draw(st.sampled_from([1, 3]))
    phases = {name: draw(st.integers(1, most_phases)) for name in names}
    kinds = st.lists(XML_TEXT, max_size=3, unique=True)
    actors = tuple(
        Actor(
            name,
            # Without a list there would be no phases to read.
            execution_times=tuple((kind, draw(figures(count, 0))) for kind in draw(kinds))
            or (("p", 1),) * (count > 1),
            phases=("",) * count,
        )
        for name, count in phases.items()
    )
    channels = []
    if names:
        labels = draw(st.lists(XML_TEXT, max_size=5, unique=True))
        for label in draw(st.permutations([*labels, "", ""])):
            source, target = draw(st.sampled_from(names)), draw(st.sampled_from(names))
            tokens = draw(st.integers(0, MAX_NUMBER))
            channels.append(
                Channel(
                    source,
                    target,
                    draw(figures(phases[source], 1)),
                    draw(figures(phases[target], 1)),
                    tokens,
                    draw(st.integers(1, MAX_NUMBER // 8)),
                    label,
                    draw(st.one_of(st.none(), st.integers(tokens, tokens + MAX_NUMBER))),
                )
            )
    return SdfGraph(draw(st.one_of(st.just(""), XML_TEXT)), actors, tuple(channels))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(any_graph())
def test_round_trip(graph: SdfGraph) -> None:
    assert parse_sdf3(format_sdf3(graph).encode()) == graph


def test_round_trip_through_a_file(tmp_path: Path) -> None:
    graph = SdfGraph("g", (Actor("ä"),), (Channel("ä", "ä", 2, 2, 3, 7, "ö"),))
    (tmp_path / "g.xml").write_text(format_sdf3(graph), "utf-8")
    assert read_graph(tmp_path / "g.xml") == graph


def test_the_examples() -> None:
    converter = read_graph(EXAMPLES / "rate_converter.xml")
    assert list(repetition_vector(converter).values()) == [147, 147, 98, 28, 32, 160]
    assert converter.actor_by_name["reader"].execution_times == (("cpu", 22), ("dsp", 40))
    video = read_graph(EXAMPLES / "block_video.xml")
    assert sum(repetition_vector(video).values()) == 21_296
    for name, graph in (("rate_converter", converter), ("block_video", video)):
        assert format_sdf3(graph) == (EXAMPLES / f"{name}.xml").read_text(encoding="utf-8")


# As other tools write it: other quotes, extra attributes and elements, sizes in bits.
FOREIGN = """<?xml version='1.0'?>
<sdf3 type='sdf' version='1.0' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>
  <!-- a comment -->
  <applicationGraph name='app'>
    <sdf name='inner' type='Inner'>
      <actor name='x' type='X'>
        <port name='o' type='out' rate='2'/> <port name='i' type='in' rate='1'/>
      </actor>
      <actor name='y' type='Y'>
        <port name='i' type='in' rate='3'/>
      </actor>
      <actor name='z' type='Y'> <port name='q' rate=' 07 ' type='out'/> </actor>
      <channel name='c' srcActor='x' srcPort='o' dstActor='y' dstPort='i' initialTokens='4'/>
      <channel name='d' srcActor='z' srcPort='q' dstActor='x' dstPort='i' size='9'/>
    </sdf>
    <sdfProperties>
      <actorProperties actor='x'>
        <processor type='p0'> <executionTime time='5'/> </processor>
        <processor type='p1' default='true'>
          <executionTime time='6'/> <memory><stateSize max='100'/></memory>
        </processor>
      </actorProperties>
      <actorProperties actor='y'/>
      <channelProperties channel='c'> <bufferSize sz='8'/> <tokenSize sz='33'/> </channelProperties>
      <channelProperties channel='d'> <bandwidth min='1'/> </channelProperties>
      <graphProperties><timeConstraints><throughput>0.1</throughput></timeConstraints></graphProperties>
    </sdfProperties>
  </applicationGraph>
  <architectureGraph name='arch'/>
</sdf3>
"""


def test_what_other_tools_write() -> None:
    assert parse_sdf3(FOREIGN.encode()) == SdfGraph(
        "app",
        (
            Actor("x", execution_times=(("p1", 6), ("p0", 5))),
            Actor("y"),
            Actor("z"),
        ),
        (
            Channel("x", "y", 2, 3, 4, token_bytes=5, name="c"),
            Channel("z", "x", 7, 1, name="d"),
        ),
    )


def test_the_first_of_several_default_processors_is_taken_with_a_note() -> None:
    """Half of the graphs of SDF3's own testbench have such actors."""
    text = FOREIGN.replace("<processor type='p0'>", "<processor type='p0' default='1'>")
    text = text.replace(
        "<processor type='p0'", "<processor type='q'><executionTime time='4'/></processor>"
        "<processor type='p0'"
    )  # fmt: skip
    graph = parse_sdf3(text.encode())
    assert graph.actors[0].execution_times == (("p0", 5), ("p1", 6), ("q", 4))
    (note,) = graph.notes
    assert note.endswith("marked as default, the first one counts: 'x' on 'p0'")
    assert not parse_sdf3(FOREIGN.encode()).notes
    assert parse_sdf3(format_sdf3(graph).encode()) == graph


def test_encodings_and_token_sizes() -> None:
    text = FOREIGN.replace("version='1.0'?", "version='1.0' encoding='UTF-16'?")
    assert parse_sdf3(text.encode("utf-16")) == parse_sdf3(FOREIGN.encode())
    for bits, size in (("0", 1), ("1", 1), ("8", 1), ("9", 2)):
        graph = parse_sdf3(FOREIGN.replace("sz='33'", f"sz='{bits}'").encode())
        assert graph.channels[0].token_bytes == size


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("<sdf3 type='sdf'", "<sdf3 type='fsmsadf'", "scenario-aware"),
        ("<sdf3 type='sdf'", "<sdf3 type='mnw'", "type must be 'sdf' or 'csdf', got 'mnw'"),
        ("<sdf name", "<sadf/><sdf name", "holds a scenario-aware graph"),
        ("<sdf name", "<csdf/><sdf name", "one element 'sdf' or 'csdf', got 2"),
        ("rate='2'", "rate='2,1'", "actor 'x': port 'o': rate '2,1' is cyclo-static"),
        ("rate='2'", "rate='3*2'", "rate '3\\*2' is cyclo-static"),
        ("rate='2'", "rate='n'", "port 'o': rate must be a whole number from 1 .* got 'n'"),
        ("rate='2'", "rate='0'", "rate must be a whole number from 1 .* got 0"),
        ("rate='2'", "rate='-2'", "got '-2'"),
        ("rate='2'", "rate='2.5'", "got '2.5'"),
        ("rate='2'", "rate='²'", "got '²'"),
        ("rate='2'", "rate=''", "needs an attribute 'rate', got an empty one"),
        ("rate='2'", "", "needs an attribute 'rate', got none"),
        ("rate='2'", f"rate='{MAX_NUMBER + 1}'", f"to {MAX_NUMBER}"),
        ("rate='2'", f"rate='{'9' * 5000}'", f"to {MAX_NUMBER}"),
        ("type='out' rate='2'", "type='both' rate='2'", "type must be 'in' or 'out', got 'both'"),
        ("type='out' rate='2'", "type='in' rate='2'", "must be of type 'out', got 'in'"),
        ("initialTokens='4'", "initialTokens='-1'", "channel 'c': initialTokens must be"),
        ("dstActor='y'", "dstActor='w'", "no port 'i' of actor 'w'"),
        ("dstActor='y'", "dstActor='x'", "channel 'd': port 'i' of actor 'x' is used twice"),
        ("name='o' type", "name='i' type", "port 'i' is there more than once"),
        ("<channel name='d'", "<channel name='c'", "channel 'c' is there more than once"),
        ("<actor name='z'", "<actor name='y'", "'y' is there more than once"),
        ("actor='y'/>", "actor='w'/>", "actorProperties for 'w', no such actor"),
        ("actor='y'/>", "actor='x'/>", "of 'x' are there more than once"),
        ("channelProperties channel='d'", "channelProperties channel='e'", "'e', no such channel"),
        ("channelProperties channel='d'", "channelProperties channel='c'", "more than once"),
        ("<processor type='p0'>", "<processor type='p1'>", "'p1' is there more than once"),
        ("<processor type='p0'>", "<processor type='p0' default='?'>", "default must be"),
        ("<executionTime time='5'/>", "", "must be one element 'executionTime', got 0"),
        ("time='5'", "time='5.5'", "time must be a whole number from 0 .* got '5.5'"),
        ("sz='33'", "sz='big'", "tokenSize must be"),
        ("<port name='i' type='in' rate='3'/>", "", "no port 'i' of actor 'y'"),
        ("<actor name='y' type='Y'>", "<actor name='y'><port name='r' type='in' rate='1'/>",
         "actor 'y': port 'r' is on no channel"),
        ("applicationGraph", "graph", "one element 'applicationGraph', got 0"),
        ("<sdf name='inner' type='Inner'>", "<sdf/><sdf>", "one element 'sdf' or 'csdf', got 2"),
        ("</sdf3>", "", "not well-formed"),
        ("name='app'", "name='&nothing;'", "not well-formed"),
    ],
)  # fmt: skip
def test_what_is_refused_by_name(before: str, after: str, message: str) -> None:
    assert before in FOREIGN
    with pytest.raises(GraphError, match=message):
        parse_sdf3(FOREIGN.replace(before, after).encode(), origin="file.xml")


# As other tools write it: lists of rates and times, repeated entries, channels back.
CYCLIC = """<sdf3 type='csdf' version='1.0'>
  <applicationGraph name='app'>
    <csdf name='app' type='app'>
      <actor name='x' type='x'>
        <port name='o' type='out' rate='0, 2*1,4'/> <port name='i' type='in' rate='0,2*1,4'/>
        <port name='s' type='out' rate='4*1'/> <port name='t' type='in' rate='1'/>
      </actor>
      <actor name='y' type='y'>
        <port name='i' type='in' rate='3'/> <port name='o' type='out' rate='3'/>
      </actor>
      <channel name='c' srcActor='x' srcPort='o' dstActor='y' dstPort='i' initialTokens='1'/>
      <channel name='state' srcActor='x' srcPort='s' dstActor='x' dstPort='t' initialTokens='1'/>
      <channel name='c_room' srcActor='y' srcPort='o' dstActor='x' dstPort='i' initialTokens='8'/>
    </csdf>
    <csdfProperties>
      <actorProperties actor='x'>
        <processor type='p' default='true'> <executionTime time='5,6,2*7'/> </processor>
        <processor type='q'> <executionTime time='9'/> </processor>
      </actorProperties>
    </csdfProperties>
  </applicationGraph>
</sdf3>
"""


def test_cyclo_static_graphs() -> None:
    graph = parse_sdf3(CYCLIC.encode())
    assert graph == SdfGraph(
        "app",
        (
            Actor("x", execution_times=(("p", (5, 6, 7, 7)), ("q", 9)), phases=("",) * 4),
            Actor("y"),
        ),
        (
            Channel("x", "y", (0, 1, 1, 4), 3, 1, name="c", capacity=9),
            Channel("x", "x", 1, 1, 1, name="state"),
        ),
    )
    # The body of a cyclo-static graph goes by either name.
    assert parse_sdf3(CYCLIC.replace("<csdf", "<sdf").replace("</csdf", "</sdf").encode()) == graph


def test_only_a_channel_that_mirrors_another_is_its_capacity() -> None:
    for before, after in (
        ("name='c_room'", "name='c_back'"),
        ("rate='0,2*1,4'", "rate='1,0,1,4'"),
        ("name='i' type='in' rate='3'", "name='i' type='in' rate='6'"),
    ):
        assert before in CYCLIC
        graph = parse_sdf3(CYCLIC.replace(before, after).encode())
        assert len(graph.channels) == 3
        assert all(channel.capacity is None for channel in graph.channels)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("time='5,6,2*7'", "time='5,6,7'", "'x': processor 'p' must have one entry or 4, .* got 3"),
        ("rate='4*1'", "rate='1,1'", "port 's' must have one entry or 4, .* got 2"),
        ("rate='4*1'", "rate='4*'", "port 's': rate must be a whole number .* got ''"),
        ("rate='4*1'", "rate='*1'", "port 's': rate: repetitions must be a whole number"),
        ("rate='4*1'", "rate='0*1'", "repetitions must be a whole number from 1"),
        ("rate='4*1'", "rate='1,,1,1'", "got ''"),
        ("rate='4*1'", "rate='4*0'", "port 's': rate must not be 0 in all phases"),
        ("rate='4*1'", "rate='1;1,1,1,1'", "initial phases are not supported"),
        ("rate='4*1'", f"rate='{MAX_NUMBER}*1'", f"may have at most {MAX_ENTRIES} entries"),
        ("rate='4*1'", "rate='3*-1,1'", "got '-1'"),
    ],
)
def test_lists_that_are_refused(before: str, after: str, message: str) -> None:
    assert before in CYCLIC
    with pytest.raises(GraphError, match=message):
        parse_sdf3(CYCLIC.replace(before, after).encode(), origin="file.xml")


@pytest.mark.parametrize(
    "prolog",
    [
        "<!DOCTYPE sdf3>",
        '<!DOCTYPE sdf3 SYSTEM "file:///etc/hostname">',
        '<!DOCTYPE sdf3 [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>',
    ],
)
def test_document_types_are_refused(prolog: str) -> None:
    text = FOREIGN.replace("<sdf3", f"{prolog}<sdf3", 1)
    with pytest.raises(GraphError, match=r"file\.xml: a document type declaration"):
        parse_sdf3(text.encode(), origin="file.xml")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"sdf3",
        b"<a/>",
        b"<sdf3/>",
        b"<sdf3/><sdf3/>",
        b"\xff\xfe",
        b"<?xml version='1.0' encoding='nonsense'?><sdf3/>",
        b"<?xml version='1.0' encoding='utf-7'?><sdf3/>",
        b"<?xml version='1.0' encoding='base64'?><sdf3/>",
        b"<a>" * 20_000,
        b"<sdf3>" + b"<a>" * 20_000 + b"</a>" * 20_000 + b"</sdf3>",
    ],
)
def test_other_bytes(data: bytes) -> None:
    with pytest.raises(GraphError):
        parse_sdf3(data)


def test_fuzzed_examples_are_read_or_refused() -> None:
    source = random.Random(7)
    originals = [path.read_bytes() for path in sorted(EXAMPLES.glob("*.xml"))] + [
        FOREIGN.encode(),
        CYCLIC.encode(),
    ]
    refused = 0
    for _ in range(3_000):
        data = bytearray(source.choice(originals))
        for _ in range(source.randint(1, 4)):
            place = source.randrange(len(data))
            kind = source.randrange(4)
            if kind == 0:
                data[place] = source.randrange(256)
            elif kind == 1:
                del data[place : place + source.randint(1, 40)]
            elif kind == 2:
                start = source.randrange(len(data))
                data[place:place] = data[start : start + source.randint(1, 80)]
            else:
                data[place] = source.choice(b"0123456789-,*'\"<>/& ")
        try:
            graph = parse_sdf3(bytes(data))
        except GraphError:
            refused += 1
        else:
            assert parse_sdf3(format_sdf3(graph).encode()) == graph
    assert 300 < refused < 3_000


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.binary(max_size=60))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(GraphError):
        parse_sdf3(data)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (SdfGraph("g\0", ()), "XML cannot hold"),
        (SdfGraph("g", (Actor("\ud800"),)), "XML cannot hold"),
        (SdfGraph("g", (Actor(""),)), "empty actor name"),
        (SdfGraph("g", (Actor("x", execution_times=(("", 1),)),)), "empty processor type"),
        (SdfGraph("g", (Actor("x", execution_times=(("p", -1),)),)), "from 0 .* got -1"),
        (SdfGraph("g", (Actor("x", execution_times=(("p", 1), ("p", 2))),)), "more than once"),
        (SdfGraph("g", (Actor("x"),), (Channel("x", "x", name="_unnamed_0"),)), "'no name'"),
        (SdfGraph("g", (Actor("x"),), (Channel("x", "x", name="c"),) * 2), "more than once"),
        (
            SdfGraph(
                "g",
                (Actor("x"),),
                (Channel("x", "x", name="c", capacity=1), Channel("x", "x", name="c_room")),
            ),
            "'c_room' is there more than once",
        ),
        (SdfGraph("g", (Actor("x"),), (Channel("x", "x", MAX_NUMBER + 1),)), "rate must be from 1"),
    ],
)
def test_what_cannot_be_written(graph: SdfGraph, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        format_sdf3(graph)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path / "none.xml", tmp_path, Path("a\0b")):
        with pytest.raises(GraphError, match="cannot be read"):
            read_graph(path)
