"""What a pipeline's throughput and energy are; apart, because the command line needs the names
before anything heavy is imported."""

from enum import Enum


class ThroughputModel(Enum):
    """What the throughput of a pipeline is; values are the names on the command line."""

    TIMELINE = "timeline"
    """Counted on the timeline: contention, transitions and a limited number of frames in flight."""
    ANALYTIC = "analytic"
    """1 / (largest load of a unit), Tang Eq. 1-7; of the channels only those between units count,
    as the text beside Eq. 7 has it."""
    ANALYTIC_ALL_CHANNELS = "analytic-all-channels"
    """The same with every channel, as Eq. 7 is printed."""


class PipelineTime(Enum):
    """The time T over which a frame of an analytic pipeline draws idle power."""

    PERIOD = "period"
    """The largest load of a unit: one frame leaves the pipeline in each."""
    SUM_OF_LOADS = "sum-of-loads"
    """The loads of all units added up, as Tang's Eq. 12 has it."""
