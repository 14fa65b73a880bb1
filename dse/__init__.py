"""Search, proof, campaigns and the command, all that a user calls.

In a clone this folder answers to ``import dse``, too, which is ``import paretosoc``.
"""

if __name__ == "dse":
    from paretosoc.alias import stand_for

    stand_for(__name__)
