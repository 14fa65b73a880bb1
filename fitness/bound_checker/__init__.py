"""The plain check of bounds over boxes, in whole numbers. It shares no code with what finds them.

A *box* is a set of operating points per domain; a domain that may be off has that as a further
point. Let a design point of the box have makespan T, ends e_n of its networks, dynamic energy V and
idle power P or more. For every unit u let pi_k be the multiplier of class k of demand there (a
group's class at its operating point is the last whose least demand it reaches), v_c that of a chain
c of networks, a that of energy, s_u that of segments.

1. *Chains.* The first network of a chain starts no earlier than its arrival, each further one after
   the last repeat of the one before, and a path of groups takes its stand-alone times and
   transitions in every repeat: arrival + sum of repeats x path <= e of the last network.
2. *Units.* In time x_c the units run a configuration c, at most one class each; class k then
   progresses by r_k(c) at most, the largest rate with demands of at least the smallest of the
   classes. A rate falls with all demands, except where the own one becomes an intensive one: there
   the proportional loss ends, so the intensive one at that point counts if it is smaller. So a
   class's stand-alone times add up to sum of x_c r_k(c) or less, and
   what contention adds to the time of a group draws at least p_k, the class's least power:
   V >= (energy of stand-alone times) + sum of x_c p_k (1 - r_k(c)). The x_c add up to T.
   With W = max over c of sum over its classes of pi_k r_k(c) - a p_k (1 - r_k(c)),

       sum over groups of pi x stand-alone time + a x their energy  <=  W T + a V

   A network may be apart where frames do not overlap: the groups of its path have classes of
   their own. They run one after the other, so configurations with two of them do not count.
3. *Segments* on a unit are at most its limit L_u.
4. *Figures* q that are sums over the groups, whatever the clocks (losses of accuracy, bytes of
   weights), are at most F_q by a limit or by the corner; w_q is the multiplier of each.

Added up, with D the least of the left side over all mappings:

    D <= W T + a V + sum of v_c e_c + sum of s_u L_u + sum of w_q F_q

D is a dynamic program along each network's path, unit by unit, in which every group has the best
operating points of the box for itself; groups beside the path take their best unit. Limits on
transitions count along the path. Where number formats are chosen, a unit is there once in each: all
have its multipliers and its classes of demand, whose least figures are over all formats; a
conversion takes its time on the path and begins a segment, but is no transition. All of this only
lowers D, so any nonnegative multipliers give a true inequality, and a change of one gives another
true inequality.

*Pipelines* in the long run: the same with the period p instead of T, and for V what is drawn in a
window of w ps, times p / w. A design point's window recurs, or at least K frames end in it; F are
in flight. Just after a frame has ended, and the next was released, between k and k + F - 1 frames
of every group are executed if k have ended: in the window K - F + 1 or more, K + F - 1 or fewer.
The period is the largest over units of (load x w / what is executed of it). So:

* A unit executes no more than w of its load: load <= p. Where prices are those of a unit, not of
  classes, 2 holds as it stands.
* Of each group, p / w times what is executed is (K - F + 1) / (K + F - 1) of its time or more. With
  this share, 2 holds for classes and for energy.
* A frame that is under way is on each chain at one place: F w >= (K - F + 1) times the chain. So
  the chain, times that share, is at most F p; it is at most e_c, too, in one frame alone.

In closed form the period is the largest load, and nothing contends; of chains there e_c counts
alone. Inequalities without energy hold for the makespan of one frame, too.

*Networks that run freely* have frame periods p_n, of rates y_n = 1 / p_n, and P is their number N
over the sum of rates. In the window every unit executes at least y_n w of its load of network n,
in whole ps as they are counted, and has as much time for it: the loads times y_n add up to at most
1 on every unit; of a chain, whose F frames are at one place each, to at most F over all units; and
the least power of its groups on a unit, times that, is drawn. With D_n the least sum of network n,
sum of y_n D_n <= W + F sum of v + a x power. Where rates are y_n >= r_n, the left side is at least
(N / P) min D + sum of r_n (D_n - min D). Where nothing is executed, p_n is 2**63 - 1 and y_n counts
as 0, so that P and the energy of an inference may be that much larger than what is reported.

*Networks with rates*: in a window of c periods P that recurs, c times the work of a period is
executed, so 2 holds with T = P for the mean of a period, contention included. The R releases of a
network in a period follow each other, so that R times a path is at most P; each takes its path at
least, so that it is also at most R times any response: the longest, the limit of all or the 95th
percentile; or, where fewer than R may be late in a period, what is just in time. That is e_n,
without an arrival; every chain is one network, for releases of two that wait for each other
overlap. V is rounded down by unit: it may be larger by less than 1 fJ each.

A *corner* (a value per objective) holds no design point of the box if, with all that follows from
it and from the limits of the problem on T, e_n, the energy P T + V and the mean power P + V / T,
the right side stays below D (:mod:`fitness.bound_checker.limits`).
"""
