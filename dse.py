"""``import dse`` is ``import paretosoc``. In a clone the folder ``dse`` comes first, and does the
same."""

from paretosoc.alias import stand_for

stand_for(__name__)
