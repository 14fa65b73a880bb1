"""Machines that obey a model, for tests of what is measured on them; and tiny networks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper

from paretosoc.dse.tools.host.machine.machine import Execution
from paretosoc.dse.tools.host.machine.unit_loop import CHUNK, StreamLog
from paretosoc.dse.tools.host.measure.execution_times import occupation
from paretosoc.fitness.simulate import simulate
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass
class ModelledMachine:
    """Executes a plan exactly as the timeline of its problem says, times ``pace``.

    ``reads``: GB/s of each unit, one entry for each time that units stream; the last one stays.
    """

    problem: Problem
    pace: float = 1.0
    executed: int = 0
    reads: tuple[float, ...] = (20.0,)

    def execute(self, plan, *, dispatch=None, beside=None):
        assert not beside
        self.executed += 1
        units = np.zeros(self.problem.group_count, dtype=np.int64)
        for instance in plan.instances:
            units[instance.group] = instance.unit
        points = np.zeros(len(self.problem.domains), dtype=np.int64)
        schedule = simulate(
            self.problem, DesignPoint(units, points), frames=plan.frames, in_flight=plan.in_flight
        ).schedule
        start, end = (
            np.array([round(getattr(e, name) * self.pace / 1000) for e in schedule.groups])
            for name in ("start_ps", "end_ps")
        )
        return Execution(start, end, np.zeros_like(start), np.zeros_like(end), {})

    def stream(self, rates, seconds):
        gbps, self.reads = self.reads[0], self.reads[1:] or self.reads[-1:]
        begins = np.arange(50) * CHUNK / gbps
        return dict.fromkeys(rates, StreamLog(begins, begins + CHUNK / gbps))


@dataclass
class SerialMachine:
    """One group at a time, beside readers of memory: what a profile measures.

    ``times`` [units][groups] ns; ``demands`` [groups] GB/s; ``handover`` ns; a reader gets
    ``alone`` GB/s, and a probe beside x GB/s ``alone - share * x``; a group of demand x beside y is
    slowed to 1 + slope * x * y. ``stolen``: ns in the middle of every group that its core did
    other things.
    """

    times: np.ndarray
    demands: np.ndarray
    handover: int = 5_000
    alone: float = 10.0
    share: float = 0.5
    slope: float = 0.005
    stolen: int = 0
    streamed: list = field(default_factory=list)

    def execute(self, plan, *, dispatch=None, beside=None):
        external = sum(self.alone if g is None else g for g in (beside or {}).values())
        count = len(plan.instances)
        start, end, before, after = (np.zeros(count, dtype=np.int64) for _ in range(4))
        free = [0] * len(plan.order)
        stolen = [0] * len(plan.order)
        for i, instance in enumerate(plan.instances):
            ready = max((int(end[k]) for k in instance.after + instance.release_after), default=0)
            moved = any(plan.instances[k].unit != instance.unit for k in instance.after)
            same_network = all(
                plan.instances[k].network == instance.network for k in instance.after
            )
            if moved and same_network:
                ready += self.handover
            u, g = instance.unit, instance.group
            start[i] = max(ready, free[u])
            slow = 1 + self.slope * self.demands[g] * external
            before[i] = stolen[u]
            stolen[u] += self.stolen
            after[i] = stolen[u]
            end[i] = start[i] + round(self.times[u][g] * slow) + self.stolen
            free[u] = int(end[i])
        execution = Execution(start, end, before, after, {})
        found = occupation(plan, execution)
        logs = {}
        for unit, rate in (beside or {}).items():
            now, begins, ends = 0, [], []
            last = int(end.max())
            groups = [(int(start[i]), int(end[i]), plan.instances[i].group) for i in range(count)]
            place = 0
            while now < last:
                while place < count - 1 and groups[place][1] <= now:
                    place += 1
                x = self.demands[groups[place][2]] if groups[place][0] <= now else 0.0
                length = round(CHUNK / (self.alone - self.share * x))
                begins.append(now)
                ends.append(now + length)
                now += max(length, 0 if rate is None else round(CHUNK / rate))
            logs[unit] = StreamLog(np.array(begins), np.array(ends))
        assert (found.busy >= 0).all()
        return Execution(start, end, before, after, logs)

    def stream(self, rates, seconds):
        self.streamed.append(dict(rates))
        logs = {}
        for unit, rate in rates.items():
            others = [g for u, g in rates.items() if u != unit]
            x = sum(self.alone if g is None else g for g in others)
            length = round(CHUNK / (self.alone - self.share * x))
            step = max(length, 0 if rate is None else round(CHUNK / rate))
            begins = np.arange(50) * step
            logs[unit] = StreamLog(begins, begins + length)
        return logs


def tiny_model(layers=4, size=16, name="tiny", *, seed=3, weights=True):
    """Convolutions and activations in a chain; without ``weights`` these are left out."""
    rng = np.random.default_rng(seed)
    nodes, initializers, last = [], [], "image"
    for k in range(layers):
        shape = [4, 4, 3, 3]
        if weights:
            values = rng.normal(0, 0.2, shape).astype(np.float32)
            initializers.append(
                helper.make_tensor(f"w{k}", TensorProto.FLOAT, shape, values.tobytes(), raw=True)
            )
        else:
            size_of = np.array(shape, dtype=np.int64).tobytes()
            initializers.append(
                helper.make_tensor(f"s{k}", TensorProto.INT64, [4], size_of, raw=True)
            )
            nodes.append(helper.make_node("ConstantOfShape", [f"s{k}"], [f"w{k}"], name=f"f{k}"))
        nodes.append(
            helper.make_node("Conv", [last, f"w{k}"], [f"c{k}"], name=f"conv{k}", pads=[1, 1, 1, 1])
        )
        nodes.append(helper.make_node("Relu", [f"c{k}"], [f"r{k}"], name=f"relu{k}"))
        last = f"r{k}"
    tensor = [1, 4, size, size]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, tensor)],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, tensor)],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
