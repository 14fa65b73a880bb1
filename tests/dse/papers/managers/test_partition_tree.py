"""The tree: boundaries, routes, selection."""

import numpy as np
import pytest

from paretosoc.dse.papers.managers.mapformer.partition_tree import (
    PartitionTree,
    learn_boundary,
    one_thread,
)


def clouds(rng, n):
    """Points of two clouds in the plane, [-2, 0] worth 1 and [2, 0] worth 0."""
    side = rng.random(n) < 0.5
    features = rng.normal(scale=0.3, size=(n, 2))
    features[:, 0] += np.where(side, -2.0, 2.0)
    return features, side.astype(float)


def leaves(node):
    if node.boundary is None:
        return [node]
    return leaves(node.good) + leaves(node.bad)


def test_separable_data_are_split_where_they_are_apart():
    rng = np.random.default_rng(0)
    features, values = clouds(rng, 60)
    boundary = learn_boundary(rng, features, values)
    assert (boundary.good(features) == (values == 1.0)).all()
    others, worth = clouds(rng, 500)
    assert (boundary.good(others) == (worth == 1.0)).mean() > 0.98


def test_the_boundary_is_scikit_learns(monkeypatch):
    import sklearn.svm

    machines = []

    class Noted(sklearn.svm.SVC):
        def fit(self, *arguments):
            machines.append(self)
            return super().fit(*arguments)

    monkeypatch.setattr(sklearn.svm, "SVC", Noted)
    rng = np.random.default_rng(1)
    for seed in range(5):
        features = rng.normal(size=(80, 6)) * 10.0 ** rng.integers(-3, 4, 6)
        features[:, 5] = 7.0
        boundary = learn_boundary(np.random.default_rng(seed), features, features[:, 0])
        others = np.concatenate((features, features.mean(axis=0) + 2 * (features - features[::-1])))
        said = machines[-1].predict((others - boundary.mean) / boundary.scale) == 1
        assert (boundary.good(others) == said).all()
        assert 0 < said.sum() < len(said)
    assert len(machines) == 5


def test_what_is_all_alike_is_not_split():
    rng = np.random.default_rng(0)
    assert learn_boundary(rng, np.ones((40, 3)), np.ones(40)) is None
    tree = PartitionTree(rng, leaf_size=5)
    tree.add(np.ones((40, 3)), np.ones(40))
    assert tree.root.boundary is None
    leaf = tree.select()
    assert leaf.path == ()
    assert len(leaf.members) == 40


@pytest.mark.parametrize("batch", [1, 7, 200])
def test_every_sample_is_in_one_leaf_and_on_its_side_of_each_boundary(batch):
    rng = np.random.default_rng(2)
    features = rng.normal(size=(200, 4))
    values = features[:, 0] - features[:, 1] ** 2
    tree = PartitionTree(rng, leaf_size=12, deepest=5)
    with one_thread():
        for begin in range(0, 200, batch):
            part = slice(begin, begin + batch)
            tree.add(features[part], values[part])
    assert tree.root.boundary is not None
    every = leaves(tree.root)
    members = np.concatenate([leaf.members for leaf in every])
    assert sorted(members.tolist()) == list(range(200))
    assert max(leaf.depth for leaf in every) <= 5
    stack = [tree.root]
    while stack:
        node = stack.pop()
        if node.boundary is not None:
            good = node.boundary.good(features[node.members])
            assert sorted(node.good.members) == sorted(node.members[good])
            assert sorted(node.bad.members) == sorted(node.members[~good])
            stack += [node.good, node.bad]
    leaf = tree.select()
    assert (leaf.depth_of(features[leaf.members]) == len(leaf.path)).all()
    outside = np.setdiff1d(np.arange(200), leaf.members)
    assert (leaf.depth_of(features[outside]) < len(leaf.path)).all()


def test_without_exploration_the_better_side_is_selected_and_with_it_the_rarer_one():
    rng = np.random.default_rng(3)
    features, values = clouds(rng, 120)
    rare = np.flatnonzero(values == 0.0)[:4]
    kept = np.concatenate((np.flatnonzero(values == 1.0), rare))
    for exploration, side in ((0.0, 1.0), (10.0, 0.0)):
        tree = PartitionTree(rng, deepest=1, exploration=exploration)
        tree.add(features[kept], values[kept])
        leaf = tree.select()
        assert (values[kept][leaf.members] == side).all()


def test_rows_above_the_cap_are_on_the_bad_side():
    rng = np.random.default_rng(4)
    features, values = clouds(rng, 100)
    values = np.where(values == 1.0, 5.0 + features[:, 1], -np.inf)
    tree = PartitionTree(rng, deepest=1)
    tree.add(features, values)
    assert np.isfinite(values[tree.select().members]).all()
