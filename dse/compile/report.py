"""What compiling each kernel costs."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict

from numba.core import event

from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.compile.warm_up import warm_up


class CompileTimes(event.Listener):
    """CPU seconds of compiling each function, without those that it calls."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.variants: Counter[str] = Counter()
        self._started: list[float] = []
        self._inner: list[float] = []

    def on_start(self, _: event.Event) -> None:
        """Note that a function begins to be compiled."""
        self._started.append(time.process_time())
        self._inner.append(0.0)

    def on_end(self, ended: event.Event) -> None:
        """Add the seconds that the function took, without those of functions compiled within."""
        function = ended.data["dispatcher"].py_func
        seconds = time.process_time() - self._started.pop()
        name = f"{function.__module__}.{function.__name__}"
        self.seconds[name] += seconds - self._inner.pop()
        self.variants[name] += 1
        if self._inner:
            self._inner[-1] += seconds


def report() -> None:
    """Compile all kernels into an empty cache and print the seconds of each function."""
    times = CompileTimes()
    with temporary_folder() as folder:
        # Read where a kernel's module is imported, which happens when it first runs.
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        started = time.process_time()
        with event.install_listener("numba:compile", times):
            warm_up()
        total = time.process_time() - started
        sizes: Counter[str] = Counter()
        for path in folder.rglob("*.so"):
            sizes[path.name.rpartition("-")[0]] += path.stat().st_size
    print(f"{'function':62} {'variants':>8} {'CPU s':>6} {'kB':>6}")
    for name, seconds in sorted(times.seconds.items(), key=lambda entry: -entry[1]):
        size = sizes[name.rpartition(".")[2]]
        print(f"{name:62} {times.variants[name]:8} {seconds:6.2f} {size / 1000:6.0f}")
    print(f"{'all, with imports and what runs':62} {times.variants.total():8} {total:6.2f}")
