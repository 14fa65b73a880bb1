"""Other programs beside ours, on the same work and in one sitting: ``python -m benchmarks.peers``.

``environment``: each program in an environment of its own. ``programs``: the work of each, a module
that is run there and prints one JSON document.
"""
