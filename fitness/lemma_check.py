"""Does a lemma hold? The plain check of certificates, in Python integers.

It shares no code with the search that writes the lemmas, nor with anything compiled.

A *lemma* is a set of choices: units for some groups, a set of operating points for every domain.
It claims that no design point with these choices (and only allowed ones for the rest) has a
makespan below the certified one, or that all of them miss a deadline. Its timeline is played as far
as the choices decide it (:mod:`fitness.lemma_play`); what follows is bounded from below.

The bound
---------
Let the timeline stop at the instant t, after all ends and before any dispatch. *Every* design point
with the lemma's choices shares this past: up to t, whatever started had one time, one demand and
one slowdown over all of them, and no group was eligible whose unit is open. So it is enough to
bound, for any one of them, the rest from t. (Nothing is compared *between* design points: the
timeline is not monotone, and what holds for the fastest choice need not hold for another.)

With c(g) the smallest stand-alone time of a group over the named operating points, on its unit
where that is named, else over its allowed units, the least end L(i) of a group instance i is:

* ended: when it ended;
* running: t + ceil(work left / 2**16): the rate is at most 2**16, and ends are whole picoseconds;
* else: c(g) after the largest of t, the arrival (first groups of a first repeat), and over all that
  it waits for, L(j), plus the transition where j feeds it and the units of both are named. It
  cannot start before any of these; its work is at least c(g) * 2**16, so it takes c(g) at least.

By induction along the waiting no instance ends before L. The bound is the largest of

* LB_n + arrival = the largest L over the instances of network n, for every network (LB_n bounds its
  latency);
* t + ceil(total / units): ``total`` adds ceil(work left / 2**16) of what runs and c of what has not
  started; each of these occupies one unit for so long, from t on, and a unit runs one at a time;
* for every unit, t + the same sum over what runs there and what is named for it.

A lemma holds where the bound is at least the certified makespan, or where LB_n is above the
deadline of a network n: then none of its design points is feasible. Limits of transitions and
segments play no part here: a lemma may name what they force, and the cover of the mapping rules by
the lemmas shows that.

Where every choice that matters has one value, the timeline is played to its end; then the bound is
the makespan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fitness.lemma_costs import LemmaCosts, LemmaCostTables, Points
from fitness.lemma_play import Instance, LemmaPlay, State, group_instances
from results.certificate import NOT_NAMED, LemmaTable, MaskArray
from results.errors import ResultError
from results.problem import WORK_PER_PS, IntArray, Problem

MASK_BITS = 64
