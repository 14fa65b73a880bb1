"""Which layers run as one launch, and what a launch moves."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import onnx.parser
import pytest

from paretosoc.fitness.cost_model.fusion import network_launches
from paretosoc.fitness.cost_model.roofline import ELEMENTS, launch_operations
from paretosoc.platforms.platform import Tile
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import Layer, LayerKind
from paretosoc.sdf.onnx.importer import import_onnx_bytes
from tests.support.growth import LINEAR, growth
from tests.support.problems.small_networks import chain, elements, grouped, layer, window

N = 16 * 8 * 8


def shape_of(network: GroupedNetwork) -> list[list[tuple[str, int, bool]]]:
    return [
        [
            ("+".join(layer.name for layer in launch.layers), launch.elements, launch.is_free)
            for launch in group
        ]
        for group in network_launches(network)
    ]


def conv(name: str, **changes: int):
    return layer(name, LayerKind.CONVOLUTION, window=window(), macs=9000, parameters=100, **changes)


def relu(name: str):
    return layer(name, LayerKind.ACTIVATION)


def test_an_activation_joins_the_convolution_before_it() -> None:
    network = chain([conv("a"), relu("b"), conv("c"), relu("d")], [4])
    assert shape_of(network) == [[("a+b", 100 + 2 * N, False), ("c+d", 100 + 2 * N, False)]]


def test_narrow_constants_keep_their_bits_in_every_format() -> None:
    packed = replace(conv("a"), narrow_parameters=90, narrow_bits=90 * 4)
    ((launch,),) = network_launches(chain([packed, relu("b")], [2]))
    assert [launch.moved_bytes(size) for size in (1, 2, 4)] == [
        45 + size * (10 + 2 * N) for size in (1, 2, 4)
    ]
    # A unit with memory of its own moves nothing.
    assert launch.moved_bytes(0) == 0


def test_a_cut_between_them_keeps_them_apart() -> None:
    network = chain([conv("a"), relu("b")], [1, 2])
    assert shape_of(network) == [[("a", 100 + 2 * N, False)], [("b", 2 * N, False)]]


def test_batch_normalisation_is_fused_and_local_response_is_not() -> None:
    batch = layer("n", LayerKind.NORMALISATION, operation="BatchNormalization", parameters=64)
    local = layer("l", LayerKind.NORMALISATION)
    network = chain([conv("a"), batch, relu("b"), local], [4])
    assert shape_of(network) == [[("a+n+b", 164 + 2 * N, False), ("l", 2 * N, False)]]


def test_a_result_that_two_read_is_written_and_read_twice() -> None:
    # a feeds b and c; d adds the two: it joins c, the later one, and reads b.
    add = layer("d", LayerKind.ELEMENTWISE, reads=[(1, 16, 8, 8)] * 2)
    network = grouped([conv("a"), conv("b"), conv("c"), add], [(0, 1), (0, 2), (1, 3), (2, 3)], [4])
    assert shape_of(network) == [
        [("a", 100 + 2 * N, False), ("b", 100 + 2 * N, False), ("c+d", 100 + 3 * N, False)]
    ]


def test_an_activation_does_not_join_what_others_read_too() -> None:
    network = grouped([conv("a"), relu("b"), relu("c")], [(0, 1), (0, 2)], [3])
    assert shape_of(network) == [
        [("a", 100 + 2 * N, False), ("b", 2 * N, False), ("c", 2 * N, False)]
    ]


def test_an_activation_that_multiplies_what_it_reads_is_fused_with_the_product() -> None:
    # SiLU: x = conv(a), x * sigmoid(x).
    product = layer("p", LayerKind.ELEMENTWISE, reads=[(1, 16, 8, 8)] * 2)
    wires = [(0, 1), (0, 2), (1, 2)]
    network = grouped([conv("a"), relu("s"), product], wires, [3])
    assert shape_of(network) == [[("a+s+p", 100 + 2 * N, False)]]
    # Not where a third layer reads the convolution, or the product another one instead.
    network = grouped([conv("a"), relu("s"), product, conv("c")], [*wires, (0, 3)], [4])
    assert [entry[0] for entry in shape_of(network)[0]] == ["a", "s+p", "c"]
    network = grouped(
        [conv("a"), relu("s"), conv("b"), product], [(0, 1), (0, 2), (1, 3), (2, 3)], [4]
    )
    assert [entry[0] for entry in shape_of(network)[0]] == ["a", "s", "b+p"]


GELU = (
    "h = Div(x, root)\ne = Erf(h)\np = Add(e, one)\ny0 = Mul(x, p)\ny = Mul(y0, half)",
    "h = Mul(x, half)\ne0 = Div(x, root)\ne = Erf(e0)\np = Add(e, one)\ny = Mul(h, p)",
)
TANH = """c0 = Pow(x, three)\nc = Mul(c0, half)\ns = Add(x, c)\nt0 = Mul(s, root)\nt = Tanh(t0)
p = Add(t, one)\nh = Mul(x, half)\ny = Mul(h, p)"""
LAYER = """m = ReduceMean<axes=[-1]>(x)\nd = Sub(x, m)\nq = Pow(d, two)
v = ReduceMean<axes=[-1]>(q)\nw = Add(v, half)\nr = Sqrt(w)\nn = Div(d, r)
g = Mul(n, scale)\ny = Add(g, shift)"""
RMS = """q = Pow(x, two)\nv = ReduceMean<axes=[-1]>(q)\nw = Add(v, half)\nr = Sqrt(w)
i = Reciprocal(r)\nn = Mul(x, i)\ny = Mul(scale, n)"""
ONE = {
    "gelu": "y = Gelu(x)",
    "hard swish": "y = HardSwish(x)",
    "mish": "y = Mish(x)",
    "layer": "y = LayerNormalization(x, scale, shift)",
    "rms": "y = com.microsoft.SimplifiedLayerNormalization(x, scale)",
}
COSTLY = Tile(activation_operations=Fraction(1), result_operations=Fraction(1))
KNOWN = ("default", ELEMENTS, LayerKind.NORMALISATION.value)
SPELLED = [
    ("gelu", GELU[0]),
    ("gelu", GELU[1]),
    ("gelu", TANH),
    ("hard swish", "h = HardSigmoid(x)\ny = Mul(x, h)"),
    ("mish", "s = Softplus(x)\nt = Tanh(s)\ny = Mul(x, t)"),
    ("layer", LAYER),
    ("rms", RMS),
]


def model_with(steps: str, last: str) -> bytes:
    """Return a network of 20 x 32 activations: a product, the steps from x to y, the last ones."""
    scalars = "".join(
        f"float {name} = {{1.0}}, " for name in ("root", "one", "two", "three", "half")
    )
    ones = ", ".join(["1"] * 32)
    opset = 20 if "<" not in steps else 13
    return onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : {opset}, "com.microsoft" : 1]>
        net (float[1, 20, 32] input, float[32, 32] a, float[32, 32] b, float[32] bias)
            => (float[1, 20, 32] z)
        <{scalars}float[32, 32] a, float[32, 32] b, float[32] bias,
         float[32] scale = {{{ones}}}, float[32] shift = {{{ones}}}>
        {{ x0 = MatMul(input, a)\nx = Add(x0, bias)\n{steps}\n{last} }}"""
    ).SerializeToString()


@pytest.mark.parametrize(("name", "steps"), SPELLED)
def test_an_operator_that_was_written_out_costs_what_it_costs(name: str, steps: str) -> None:
    """Exporters write GELU as one operator since version 20 of the operators, and layer
    normalisation since version 17."""
    # A normalisation stands beside the path that its result is added to.
    beside = "z0 = MatMul(y, b)\nz = Add(z0, x)"
    last = beside if name in ("layer", "rms") else "z = MatMul(y, b)"
    both = [costs_of(text, last) for text in (ONE[name], steps)]
    assert both[0] == both[1]
    assert len(both[0]) == (2 if name in ("gelu", "hard swish") else 3)


@pytest.mark.parametrize("steps", [ONE["hard swish"], SPELLED[3][1]])
def test_an_activation_that_a_unit_does_not_fuse_is_a_launch_of_its_own(steps: str) -> None:
    last = "z = MatMul(y, b)"
    joined, apart = costs_of(steps, last), costs_of(steps, last, ["HardSwish"])
    (product, size, _), *others = apart
    # It reads and writes 20 x 32 activations more.
    assert [one[1:] for one in others] == [(32, False), joined[1][1:]]
    assert (size, sum(one[1] for one in apart)) == (joined[0][1], joined[0][1] + 32 + joined[1][1])
    assert product[ELEMENTS] == joined[0][0][ELEMENTS] - 640 == 640
    assert costs_of(GELU[0], last, ["HardSwish"]) == costs_of(GELU[0], last)


def costs_of(
    steps: str, last: str, separate: Sequence[str] = ()
) -> list[tuple[dict[str, Fraction | int], int, bool]]:
    network = import_onnx_bytes(model_with(steps, last), name="net")
    (group,) = network_launches(group_network(network.graph, None, groups=1), separate)
    return [
        (launch_operations(launch, COSTLY, KNOWN), launch.elements // 40, launch.is_free)
        for launch in group
    ]


@pytest.mark.parametrize("steps", [steps for _, steps in SPELLED])
def test_quantised_steps_are_one_operator(steps: str) -> None:
    """Nodes that quantise stand between all steps."""

    def quantised(found: re.Match[str]) -> str:
        name = found[1]
        return (
            f"{name}_ = {found[2]}\n{name}__ = QuantizeLinear({name}_, one)\n"
            f"{name} = DequantizeLinear({name}__, one)"
        )

    last = "z = MatMul(y, b)"
    assert costs_of(re.sub(r"(\w+) = (.*)", quantised, steps), last) == costs_of(steps, last)


@pytest.mark.parametrize(("name", "steps"), SPELLED[-2:])
def test_a_normalisation_whose_result_is_added_is_not_one_with_the_next(
    name: str, steps: str
) -> None:
    """As in Swin-V2, whose blocks end in normalisations."""

    def blocks(text: str) -> list[tuple[dict[str, Fraction | int], int, bool]]:
        names = {"x": "z0", "y": "z"}
        again = re.sub(r"\b[a-z]\b", lambda found: names.get(found[0], f"{found[0]}9"), text)
        return costs_of(text, f"z0 = Add(y, input)\n{again}")

    assert len(blocks(ONE[name])) == 3
    assert blocks(steps) == blocks(ONE[name])


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        (GELU[0], "z0 = MatMul(y, b)\nz = Add(z0, e)"),
        # Rockchip's compiler does not put this hard swish together.
        ("s = Add(x, three)\nc = Clip(s, half, one)\ny = Mul(x, c)", "z = MatMul(y, b)"),
    ],
)
def test_steps_that_others_read_and_hard_swish_are_no_operator(steps: str, last: str) -> None:
    model = model_with(steps, last)
    network = import_onnx_bytes(model, name="net")
    (launches,) = network_launches(group_network(network.graph, None, groups=1))
    assert not any(launch.operators for launch in launches)


def test_a_result_of_the_network_is_written_though_layers_read_it() -> None:
    first = conv("a", result_elements=N)
    network = chain([first, relu("b")], [2])
    assert shape_of(network) == [[("a", 100 + 2 * N + 0, False), ("b", 2 * N, False)]]


def test_reshapes_are_free_and_let_the_rest_through() -> None:
    flat = layer("r", LayerKind.RESHAPE, writes=(1, N))
    network = chain([conv("a"), flat, conv("b")], [3])
    assert shape_of(network) == [[("a+r", 100 + 2 * N, False), ("b", 100 + 2 * N, False)]]
    alone = chain([conv("a"), flat, conv("b")], [1, 2, 3])
    assert shape_of(alone)[1] == [("r", 0, True)]


def test_a_concatenation_copies_only_inputs_of_the_network() -> None:
    both = layer(
        "c", LayerKind.CONCATENATION, reads=[(1, 16, 8, 8)] * 2, writes=(1, 32, 8, 8), axis=1
    )
    for cuts in ([3], [1, 3], [2, 3], [1, 2, 3]):
        network = grouped([conv("a"), conv("b"), both], [(0, 2), (1, 2)], cuts)
        assert shape_of(network)[-1][-1] == ("c", 0, True)
    network = grouped([conv("a"), both], [(0, 1)], [2])
    assert shape_of(network)[0][1] == ("c", 2 * N, False)


def drawn(draw: random.Random) -> tuple[list[Layer], list[tuple[int, int]]]:
    """Return layers that read near ones before them, and the wires."""
    layers: list[Layer] = []
    wires: list[tuple[int, int]] = []
    for index in range(draw.randint(2, 12)):
        kind, operation = draw.choice(DRAWN)
        pair = kind is LayerKind.ELEMENTWISE and draw.random() < 0.6
        first = max(0, index - draw.randint(1, 4))
        sources = {draw.randrange(first, index) for _ in range(1 + pair) if index}
        reads = [layers[source].output_shapes[0] for source in sorted(sources)] or [(1, 16, 8, 8)]
        writes = max(reads)
        if kind in (LayerKind.CONVOLUTION, LayerKind.REDUCTION):
            writes = (1, 16 if kind is LayerKind.CONVOLUTION else 1, 8, 8)
        result = draw.random() < 0.05 and elements(writes)
        layers.append(
            layer(f"l{index}", kind, reads=reads, writes=writes, operation=operation,
                  macs=9000 * (kind is LayerKind.CONVOLUTION), result_elements=result)
        )  # fmt: skip
        wires += [(source, index) for source in sorted(sources)]
    return layers, wires


DRAWN = (
    *[(LayerKind.ELEMENTWISE, "Mul")] * 3,
    *[(LayerKind.ACTIVATION, "Erf")] * 2,
    (LayerKind.ACTIVATION, "Mish"),
    (LayerKind.ELEMENTWISE, "Clip"),
    (LayerKind.REDUCTION, "ReduceMean"),
    (LayerKind.CONVOLUTION, "Conv"),
    (LayerKind.RESHAPE, "Reshape"),
)


def test_launches_of_any_network_are_whole_and_in_order() -> None:
    draw = random.Random(0)
    for _ in range(2000):
        layers, wires = drawn(draw)
        count = len(layers)
        ends = [*sorted(draw.sample(range(1, count), draw.randint(0, min(3, count - 1)))), count]
        network = grouped(layers, wires, ends)
        launches = [launch for group in network_launches(network) for launch in group]
        place = {layer.name: i for i, launch in enumerate(launches) for layer in launch.layers}
        assert sorted(place) == sorted(layer.name for layer in layers)
        assert sum(len(launch.layers) for launch in launches) == count
        for source, target in wires:
            assert place[layers[source].name] <= place[layers[target].name], (layers, wires)
        for launch in launches:
            own = {layer.name for layer in launch.layers}
            assert all(step.name in own for steps in launch.operators for step in steps)
            outside = {s for s, t in wires if layers[t].name in own and layers[s].name not in own}
            written = 0 if launch.is_free else launch.layers[-1].output_elements
            read = 0 if launch.is_free else sum(layers[s].output_elements for s in outside)
            most = sum(layer.input_elements + layer.output_elements for layer in launch.layers)
            assert read + written <= launch.elements + written * launch.is_free <= most
        whole = [launch for (group,) in [network_launches(grouped(layers, wires, [count]))]
                 for launch in group]  # fmt: skip
        costly = [[one for one in found if not one.is_free] for found in (whole, launches)]
        assert len(costly[0]) <= len(costly[1])
        assert sum(one.elements for one in whole) <= sum(one.elements for one in launches)
        named = [replace(layer, name=f"x{draw.random()}") for layer in layers]
        again = network_launches(grouped(named, wires, ends))
        assert [one.elements for group in again for one in group] == [
            one.elements for one in launches
        ]


@pytest.mark.parametrize(
    "name", ["yolov8n", "densenet121", "googlenet", "segformer_b0", "vit_b_16"]
)
def test_the_usual_cuts_change_no_launch(name: str) -> None:
    """A network that stays on one unit costs the same, however it is cut."""
    graph = load_network(name).graph
    cuts = [group_network(graph, None, groups) for groups in (1, 8, None)]
    whole, *others = (
        sorted(
            (launch.elements, sum(layer.macs for layer in launch.layers))
            for group in network_launches(network)
            for launch in group
            if not launch.is_free
        )
        for network in cuts
    )
    assert len(cuts[-1].groups) > 8
    assert others == [whole, whole]


def test_launches_of_one_group_take_linear_time() -> None:
    def one_group(count: int) -> GroupedNetwork:
        return chain([relu(f"r{i}") for i in range(count)], [count])

    assert growth(network_launches, one_group, 100) < LINEAR

    class Name(str):
        """Each look-up of a name counts as a line."""

        def __hash__(self) -> int:
            return super().__hash__()

    def one_feeds_all(count: int) -> GroupedNetwork:
        readers = [relu(Name(f"r{i}")) for i in range(count)]
        wires = [(0, 1 + i) for i in range(count)]
        return grouped([conv(Name("a")), *readers], wires, [1 + count])

    assert growth(network_launches, one_feeds_all, 100) < LINEAR

    def gates(count: int) -> GroupedNetwork:
        product = layer("p", LayerKind.ELEMENTWISE, reads=[(1, 16, 8, 8)] * 2)
        pairs = [(relu(f"s{i}"), replace(product, name=f"p{i}")) for i in range(count)]
        lasts = range(0, 2 * count, 2)
        wires = [(last + i, last + j) for last in lasts for i, j in ((0, 1), (0, 2), (1, 2))]
        return grouped([conv("a"), *sum(pairs, ())], wires, [1 + 2 * count])

    assert growth(network_launches, gates, 100) < LINEAR
