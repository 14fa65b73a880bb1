"""The most activations held at a time, against liveness written out by hand and by brute force."""

from __future__ import annotations

import numpy as np

from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.graph import Actor, Channel, SdfGraph
from paretosoc.sdf.grouping.activations import held_activation_elements
from paretosoc.sdf.grouping.network_view import layers_of, tensors_of
from paretosoc.sdf.layer import Layer, LayerKind


def graph_of(layers, edges):
    """``layers``: (kind, input elements, output elements); ``edges``: (source, target, elements);
    equal sources and elements are one tensor."""
    actors = [
        Actor(
            str(i),
            Layer(str(i), "Op", kind, 0, 0, input_elements=taken, output_elements=made),
        )
        for i, (kind, taken, made) in enumerate(layers)
    ]
    channels = [Channel(str(a), str(b), n, n, name=f"t{a}.{n}") for a, b, n in edges]
    return SdfGraph("g", tuple(actors), tuple(channels))


CONV, RELU, RESHAPE = LayerKind.CONVOLUTION, LayerKind.ACTIVATION, LayerKind.RESHAPE


def test_a_chain_holds_what_a_layer_reads_and_makes():
    layers = [(CONV, 3, 10), (CONV, 10, 20), (CONV, 20, 5)]
    assert max(held_activation_elements(graph_of(layers, [(0, 1, 10), (1, 2, 20)]))) == 30


def test_what_is_read_later_stays():
    layers = [(CONV, 3, 10), (CONV, 10, 20), (CONV, 20, 5), (CONV, 15, 1)]
    edges = [(0, 1, 10), (0, 3, 10), (1, 2, 20), (2, 3, 5)]
    assert max(held_activation_elements(graph_of(layers, edges))) == 35


def test_a_layer_in_place_takes_nothing_unless_what_it_reads_is_read_again():
    layers = [(CONV, 3, 10), (RELU, 10, 10), (CONV, 10, 4)]
    chain = [(0, 1, 10), (1, 2, 10)]
    assert max(held_activation_elements(graph_of(layers, chain))) == 14
    layers[2] = (CONV, 20, 4)
    assert max(held_activation_elements(graph_of(layers, [*chain, (0, 2, 10)]))) == 24


def test_a_reshaped_tensor_is_the_same_memory_as_long_as_either_is_read():
    layers = [(CONV, 3, 10), (RESHAPE, 0, 10), (CONV, 10, 4), (CONV, 14, 1)]
    edges = [(0, 1, 10), (1, 2, 10), (0, 3, 10), (2, 3, 4)]
    assert max(held_activation_elements(graph_of(layers, edges))) == 15


def test_between_the_largest_layer_and_all_tensors():
    """Brute force without sharing is above; the largest tensor that is read is below."""
    for name in ("squeezenet", "resnet18", "mobilenet_v2", "densenet121"):
        graph = load_network(name).graph
        tensors = tensors_of(graph)
        held = [
            sum(t.elements for t in tensors if t.source <= i <= t.readers[-1])
            for i in range(len(layers_of(graph)))
        ]
        slack = max(layer.input_elements + layer.output_elements for layer in layers_of(graph))
        found = max(held_activation_elements(graph))
        assert max(t.elements for t in tensors) <= found <= np.max(held) + slack


def test_what_a_pool_holds_is_bounded_by_what_is_held_while_layers_run_there():
    """Of random layers in two pools, tensor by tensor: one is in its writer's pool until its last
    reader there, and in the other from the hand-over to its last reader there."""
    rng = np.random.default_rng(33)
    below = 0
    for _ in range(300):
        count = int(rng.integers(2, 9))
        edges = [
            (i, j, int(rng.integers(1, 20)))
            for j in range(1, count)
            for i in rng.choice(j, min(j, int(rng.integers(1, 3))), replace=False).tolist()
        ]
        readers: dict[tuple[int, int], list[int]] = {}
        for source, target, size in edges:
            readers.setdefault((source, size), []).append(target)
        made = [sum(size for source, size in readers if source == i) or 1 for i in range(count)]
        read = [sum(size for _, target, size in edges if target == i) for i in range(count)]
        layers = [(CONV, read[i], made[i]) for i in range(count)]
        held = held_activation_elements(graph_of(layers, edges))
        pool_of = rng.integers(0, 2, count)
        for pool in range(2):
            here = np.flatnonzero(pool_of == pool).tolist()
            most = 0
            for now in range(count):
                result = now in here and all(source != now for source, _ in readers)
                size = made[now] if result else 0
                for (source, elements), targets in readers.items():
                    until = [target for target in targets if target in here]
                    until += [source] if source in here else []
                    size += elements if source <= now <= max(until, default=-1) else 0
                most = max(most, size)
            bound = max((held[i] for i in here), default=0)
            assert most <= bound
            below += most < bound
            if len(here) == count:
                assert most == bound == max(held)
    assert below > 100
