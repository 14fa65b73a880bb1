"""The most activations held at a time, against liveness written out by hand and by brute force."""

from __future__ import annotations

import numpy as np

from sdf.catalogue.catalogue import load_network
from sdf.graph import Actor, Channel, SdfGraph
from sdf.grouping.activations import peak_activation_elements
from sdf.grouping.cuts import layers_of, tensors_of
from sdf.layer import Layer, LayerKind


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
    assert peak_activation_elements(graph_of(layers, [(0, 1, 10), (1, 2, 20)])) == 30


def test_what_is_read_later_stays():
    layers = [(CONV, 3, 10), (CONV, 10, 20), (CONV, 20, 5), (CONV, 15, 1)]
    edges = [(0, 1, 10), (0, 3, 10), (1, 2, 20), (2, 3, 5)]
    assert peak_activation_elements(graph_of(layers, edges)) == 35


def test_a_layer_in_place_takes_nothing_unless_what_it_reads_is_read_again():
    layers = [(CONV, 3, 10), (RELU, 10, 10), (CONV, 10, 4)]
    chain = [(0, 1, 10), (1, 2, 10)]
    assert peak_activation_elements(graph_of(layers, chain)) == 14
    layers[2] = (CONV, 20, 4)
    assert peak_activation_elements(graph_of(layers, [*chain, (0, 2, 10)])) == 24


def test_a_reshaped_tensor_is_the_same_memory_as_long_as_either_is_read():
    layers = [(CONV, 3, 10), (RESHAPE, 0, 10), (CONV, 10, 4), (CONV, 14, 1)]
    edges = [(0, 1, 10), (1, 2, 10), (0, 3, 10), (2, 3, 4)]
    assert peak_activation_elements(graph_of(layers, edges)) == 15


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
        found = peak_activation_elements(graph)
        assert max(t.elements for t in tensors) <= found <= np.max(held) + slack
