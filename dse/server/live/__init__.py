"""A local page that shows a run while it runs (``--live``). ``explore`` and ``campaign`` provide
the content, ``serve`` shows it to one browser of this machine."""
