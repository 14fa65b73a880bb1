"""Recomputes every objective of every member of a result folder, from its two JSON files alone.

Written from the descriptions in the two schemas, with the standard library only; prints what does
not agree and ends with status 1 then. Usage: python recompute_front.py FOLDER
"""

import hashlib
import json
import pathlib
import sys


def at(table, index):
    for i in index:
        table = table[i]
    return table


def loss(c, m, x, y):
    """What a group with demand x loses of its rate, 65536, beside demands of y in all."""
    if c is None or y == 0:
        return 0
    c = {key: values[m] for key, values in c.items()}
    worst = -(-min(y, c["peak_kbps"]) * c["minor_num"] // c["minor_den"])
    a = x + c["balance_kbps"] - c["total_kbps"]
    if x >= c["normal_kbps"] and a > 0:
        if x < c["total_kbps"]:
            span = max(0, min(a, x + y - c["total_kbps"]))
            second = -(-span * c["proportional_num"] // c["proportional_den"])
        else:
            span = a * min(y, c["balance_kbps"])
            second = -(-span * c["intensive_num"] // c["intensive_den"])
        worst = max(worst, second)
    return min(worst, 62260)


def replay(problem, unit_of, point, frames=1, in_flight=1, freely=False):
    """{(frame, network, repeat, group): (ready, start, end)}; by default one frame alone.

    unit_of: unit name per group, through all networks; point: index per domain name; freely:
    without a common frame, until all networks have ended ``frames`` frames, and all that ran then
    has ended; what started at that instant or later may have no end.
    """
    units = {unit["name"]: unit for unit in problem["units"]}
    number = {unit["name"]: u for u, unit in enumerate(problem["units"])}
    index = {name: [point[clock] for clock in unit["clocks"]] for name, unit in units.items()}
    m = point[problem["memory_domain"]] if problem["memory_domain"] else 0
    alone = [at(units[u]["time_ps"][g], index[u]) for g, u in enumerate(unit_of)]
    demand = [at(units[u]["demand_kbps"][g], index[u]) for g, u in enumerate(unit_of)]
    networks = problem["networks"]
    groups = [range(n["first_group"], n["first_group"] + len(n["group_names"])) for n in networks]
    name_index = {network["name"]: n for n, network in enumerate(networks)}
    incoming = {g: [e for e in problem["edges"] if e["target"] == g] for g in range(len(unit_of))}

    def awaited(frame, n, repeat, g):
        """Executions that must end first, each with the delay after it."""
        first = not incoming[g] and repeat == 1
        for e in incoming[g]:
            delay = e["transition_ps"][number[unit_of[e["source"]]]][number[unit_of[g]]]
            yield (frame, n, repeat, e["source"]), delay
        if not incoming[g] and repeat > 1:
            yield from (((frame, n, repeat - 1, other), 0) for other in groups[n])
        for other in (name_index[name] for name in networks[n]["waits_for"] if first):
            yield from (((frame, other, networks[other]["repeats"], o), 0) for o in groups[other])
        if first and frame > in_flight:
            for k, other in [(n, networks[n])] if freely else enumerate(networks):
                last, delay = (frame - in_flight, k, other["repeats"]), networks[n]["arrival_ps"]
                yield from (((*last, o), delay) for o in groups[k])

    def executions(frame, n):
        return {
            (frame, n, repeat, g): dict(awaited(frame, n, repeat, g))
            for repeat in range(1, networks[n]["repeats"] + 1)
            for g in groups[n]
        }

    todo, ended = {}, {}
    known = in_flight if freely else frames
    for frame, n in ((frame, n) for frame in range(1, known + 1) for n in range(len(networks))):
        todo.update(executions(frame, n))
    ready, start, end, running, queued, now, last_instant = {}, {}, {}, {}, {}, 0, None
    while todo or queued or running:
        for u in [u for u, (_, left) in running.items() if left <= 0]:
            key = running.pop(u)[0]
            end[key] = now
            frame, n = key[:2]
            last = networks[n]["repeats"]
            if freely and all((frame, n, last, g) in end for g in groups[n]):
                ended[n] = frame
                todo.update(executions(frame + in_flight, n))
        if freely and len(ended) == len(networks) and min(ended.values()) >= frames:
            last_instant = now if last_instant is None else last_instant
            if all(start[key] >= last_instant for key, _ in running.values()):
                break
        for key, before in list(todo.items()):
            if all(other in end for other in before):
                first = key[2] == 1 and not incoming[key[3]]
                ready[key] = queued[key] = max(
                    [networks[key[1]]["arrival_ps"] if first else 0]
                    + [end[other] + delay for other, delay in before.items()]
                )
                del todo[key]
        for u in units:
            queue = [
                (when, *key) for key, when in queued.items() if when <= now and unit_of[key[3]] == u
            ]
            if queue and u not in running:
                key = min(queue)[1:]
                start[key], running[u] = now, (key, alone[key[3]] * 65536)
                del queued[key]
        rate = {}
        for u, (key, _) in running.items():
            others = sum(demand[k[3]] for v, (k, _) in running.items() if v != u)
            rate[u] = 65536 - loss(units[u]["contention"], m, demand[key[3]], others)
        instants = [now - (-left // rate[u]) for u, (_, left) in running.items()]
        instants += [when for when in queued.values() if when > now]
        if not instants:
            break
        step, now = min(instants) - now, min(instants)
        running = {u: (key, left - rate[u] * step) for u, (key, left) in running.items()}
    return {key: (ready[key], start[key], end.get(key)) for key in sorted(start)}


def figures(problem, unit_of, point, rows, played=None):
    """Objective name to value, from one frame played alone and, where networks run freely, from
    that; and the energy of each unit."""
    makespan = max(end for _, _, end in rows.values())
    result = {"latency_ps": makespan, "negative_rate_sum_uhz": 0}
    for n, network in enumerate(problem["networks"]):
        last = max(end for key, (_, _, end) in rows.items() if key[1] == n)
        latency = result["latency_ps:" + network["name"]] = last - network["arrival_ps"]
        result["negative_rate_sum_uhz"] -= 10**18 // latency
    units = {unit["name"]: unit for unit in problem["units"]}
    alone = sum(
        at(units[u]["time_ps"][key[3]], [point[clock] for clock in units[u]["clocks"]])
        for key, u in ((key, unit_of[key[3]]) for key in rows)
    )
    busy = sum(end - start for _, start, end in rows.values())
    result["stretch_ppm"] = (busy - alone) * 10**6 // alone

    counted, idle_ps, frames = rows, makespan, 1
    spent = dict.fromkeys(units, 0)
    if problem["energy_use"] == "periodic":
        idle_ps = problem["period_ps"]
    if problem["free_running"]:
        window, inferences, counted = window_of(problem, played)
        idle_ps, frames = window[1] - window[0], sum(inferences)
        eight = 8 * len(problem["networks"]) * idle_ps
        result["window_of_8_frames_ps"] = (2 * eight + frames) // (2 * frames)
    elif problem["throughput_model"] != "timeline":
        load, spent = closed_form(problem, unit_of, point)
        result["window_of_8_frames_ps"] = 8 * max(load.values())
        counted = {}
        idle_ps = max(load.values())
        if problem["pipeline_time"] == "sum-of-loads":
            idle_ps = sum(load.values())
    elif problem["energy_use"] == "pipeline":
        played = replay(problem, unit_of, point, 12, problem["frames_in_flight"])
        ends = [max(t[2] for key, t in played.items() if key[0] == f) for f in range(1, 13)]
        result["window_of_8_frames_ps"] = idle_ps = ends[11] - ends[3]
        counted, frames = {key: times for key, times in played.items() if key[0] > 4}, 8
    needed = {c for u in problem["units"] if u["name"] in unit_of for c in u["clocks"]}
    energy = problem["board_mw"] * idle_ps
    for domain in problem["domains"]:
        if not domain["may_be_off"] or domain["name"] in needed:
            needed.add(domain["name"])
            static = domain["operating_points"][point[domain["name"]]]["static_mw"]
            energy += static * idle_ps
    by_unit = {}
    for unit in problem["units"]:
        index = [point[clock] for clock in unit["clocks"]]
        idle = at(unit["idle_mw"], index) if unit["clocks"][0] in needed else 0
        by_unit[unit["name"]] = (
            spent[unit["name"]]
            + idle * idle_ps
            + sum(
                at(unit["dynamic_mw"][key[3]], index) * (end - start)
                for key, (_, start, end) in counted.items()
                if unit_of[key[3]] == unit["name"]
            )
        )
    whole = energy + sum(by_unit.values())
    energy = whole // frames
    result["energy_fj"] = energy
    result["power_uw"] = 1000 * energy // max(1, idle_ps // frames)
    result["energy_per_inference_fj"] = energy // len(problem["networks"])
    if problem["free_running"]:
        result["power_uw"] = 1000 * whole // idle_ps
        result["energy_per_inference_fj"] = energy
    return result, {name: value // frames for name, value in by_unit.items()}


def window_of(problem, played):
    """Of networks that run freely: the window, inferences of each network in it, and the parts of
    the executions that lie in it."""
    ends = []
    for n, network in enumerate(problem["networks"]):
        size, of_frame = network["repeats"] * len(network["group_names"]), {}
        for key, (_, _, end) in played.items():
            if key[1] == n and end is not None:
                of_frame.setdefault(key[0], []).append(end)
        ends.append([max(found) for found in of_frame.values() if len(found) == size])
    slowest = max(range(len(ends)), key=lambda n: (ends[n][11], -n))
    begin, last = ends[slowest][3], ends[slowest][11]
    counted = {
        key: (ready, max(start, begin), min(last, end))
        for key, (ready, start, end) in played.items()
        if start < last and end > begin
    }
    return (begin, last), [sum(begin < t <= last for t in found) for found in ends], counted


def beginning(problem, played):
    """What ``free_run`` says, and the executions of the schedule, of networks that run freely."""
    window, inferences, _ = window_of(problem, played)
    ends = sorted(end for _, _, end in played.values() if end is not None)
    until = min([window[1], *ends[999:1000]])
    names = [network["name"] for network in problem["networks"]]
    said = {"window_ps": list(window), "inferences": dict(zip(names, inferences, strict=True))}
    shown = {key: times for key, times in played.items() if times[1] < until}
    return {**said, "shown_ps": until}, shown


def closed_form(problem, unit_of, point):
    """Per unit: its load in ps, and what it draws above idle in fJ, channels included."""
    units = {unit["name"]: unit for unit in problem["units"]}
    repeats = [n["repeats"] for n in problem["networks"] for _ in n["group_names"]]
    load, spent = dict.fromkeys(units, 0), dict.fromkeys(units, 0)

    def busy(name, time, milliwatts):
        load[name] += time
        spent[name] += time * milliwatts

    for g, name in enumerate(unit_of):
        index = [point[clock] for clock in units[name]["clocks"]]
        time = at(units[name]["time_ps"][g], index) * repeats[g]
        busy(name, time, at(units[name]["dynamic_mw"][g], index))
    for e in problem["edges"]:
        ends = unit_of[e["source"]], unit_of[e["target"]]
        if ends[0] == ends[1] and problem["throughput_model"] == "analytic":
            continue
        for name, rate in zip(ends, ("write_fs", "read_fs"), strict=True):
            channels = units[name]["channels"]
            k = point[channels["clock"]]
            time = -(-e["tokens"] * channels[rate][k] // 1000) * repeats[e["source"]]
            busy(name, time, channels["busy_mw"][k])
    return load, spent


def execution(problem, unit_of, point, key, times):
    """One entry of a schedule."""
    frame, n, repeat, group = key
    (unit,) = [unit for unit in problem["units"] if unit["name"] == unit_of[group]]
    return {
        "network": problem["networks"][n]["name"],
        "frame": frame,
        "repeat": repeat,
        "group": group,
        "unit": unit["name"],
        **dict(zip(("ready_ps", "start_ps", "end_ps"), times, strict=True)),
        "alone_ps": at(unit["time_ps"][group], [point[clock] for clock in unit["clocks"]]),
    }


def main(folder):
    text = (folder / "problem.json").read_bytes()
    problem, front = json.loads(text), json.loads((folder / "front.json").read_bytes())
    wrong = []
    if hashlib.sha256(text).hexdigest() != front["problem_sha256"]:
        wrong.append("problem_sha256")
    for i, member in enumerate(front["members"]):
        unit_of = [unit for n in problem["networks"] for unit in member["mapping"][n["name"]]]
        point = {d: p["index"] if p else 0 for d, p in member["operating_points"].items()}
        shown = rows = replay(problem, unit_of, point)
        said = played = None
        if problem["free_running"]:
            played = replay(problem, unit_of, point, 12, problem["frames_in_flight"], freely=True)
            said, shown = beginning(problem, played)
        if member["free_run"] != said:
            wrong.append(f"member {i}: free_run")
        schedule = [execution(problem, unit_of, point, *entry) for entry in shown.items()]
        if schedule != member["schedule"]:
            wrong.append(f"member {i}: schedule")
        result, by_unit = figures(problem, unit_of, point, rows, played)
        if member["makespan_ps"] != result["latency_ps"]:
            wrong.append(f"member {i}: makespan_ps")
        for name, value in member["latencies_ps"].items():
            if value != result["latency_ps:" + name]:
                wrong.append(f"member {i}: latencies_ps")
        for name, value in member["objectives"].items():
            if result[name] != value:
                wrong.append(f"member {i}: {name} is {result[name]}, the file says {value}")
        if by_unit != member["energy_by_unit_fj"]:
            wrong.append(f"member {i}: energy_by_unit_fj")
    print("\n".join(wrong) or f"{len(front['members'])} members: all objectives agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
