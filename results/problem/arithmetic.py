"""Integers in which the simulation advances, and their limits. They are apart from the problem
because compiled code depends on them."""

WORK_BITS = 16
WORK_PER_PS = 1 << WORK_BITS
"""Work units in a picosecond of stand-alone time. Also the rate of a group that nobody slows."""
TIME_LIMIT_PS = 1 << 47
"""Stand-alone times stay below this, so that the work left in a group stays below 2**63."""
MAX_PRIORITY = 99
"""Times 2**55, which no time in a frame reaches, it stays below 2**62."""
PRIORITY_LEVELS = 3
"""Priorities that a search chooses from."""
LOSS_LIMIT = -(-95 * WORK_PER_PS // 100)
"""A slowdown never takes more than 95 % of the rate."""
SHARING_WHOLE = 1000
"""The whole of which ``sharing_permille`` is a part."""
BY_NOBODY, BY_SOURCE, BY_TARGET = range(3)
"""Whose work a transition is: nobody's, or that of the unit of its first or its second group."""
MAX_MEMORY_BYTES = 10**15
"""Largest memory of the activations of a network."""
MAX_WEIGHT_BYTES = 10**12
"""Largest memory of the weights of a group."""
MAX_LOSS_PPM = 10**12
"""Most accuracy that one group may cost, in millionths of the metric. Sums stay in int64."""
MAX_PERIODS = 32
"""Number of periods after which networks with rates that have not recurred never do."""
