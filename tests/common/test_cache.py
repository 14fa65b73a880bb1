"""Machine code that several processes add to one folder."""

from __future__ import annotations

import threading
import time

from numba.core.caching import IndexDataCacheFile

from paretosoc.common.cache import save_one_at_a_time


def test_signatures_that_are_saved_at_the_same_time_keep_their_own_code(tmp_path, monkeypatch):
    """As in processes that compile the same function: each has its own object for the index."""
    load = IndexDataCacheFile._load_index

    def slow(self):
        found = load(self)
        time.sleep(0.01)
        return found

    monkeypatch.setattr(IndexDataCacheFile, "_load_index", slow)

    def cache_file():
        return IndexDataCacheFile(str(tmp_path), "kernel", "stamp")

    def save(number):
        file = cache_file()
        save_one_at_a_time(file)
        file.save(("signature", number), ("code", number))

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {number: cache_file().load(("signature", number)) for number in range(8)}
    assert found == {number: ("code", number) for number in range(8)}
