"""A local page that shows a run while it runs (``--live``): ``explore`` and ``campaign`` say what
there is to see, ``serve`` lets one browser of this machine see it.
"""
