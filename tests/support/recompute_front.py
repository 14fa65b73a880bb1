"""Recomputes every objective of every member of a result folder, from its two JSON files alone.

Written from the descriptions in the two schemas, with the standard library only; prints what does
not agree and ends with status 1 then. Usage: python recompute_front.py FOLDER
"""

import hashlib
import json
import math
import pathlib
import sys
from fractions import Fraction


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
    if x + y > c.get("memory_kbps", x + y):
        worst = max(worst, -(-(x + y - c["memory_kbps"]) * 65536 // (x + y)))
    return min(worst, 62260)


def places_of(problem):
    """Of each unit name that of the first entry of the same processor."""
    names = {unit["name"]: unit.get("unit", unit["name"]) for unit in problem["units"]}
    first = {}
    for name, processor in names.items():
        first.setdefault(processor, name)
    return {name: first[processor] for name, processor in names.items()}


def engines_of(problem, unit_of):
    """Of each group the first and the last of those that run with it without a break."""
    entries = {unit["name"]: unit for unit in problem["units"]}
    firsts = {network["first_group"] for network in problem["networks"]}
    head, tail = list(range(len(unit_of))), list(range(len(unit_of)))
    for g, name in enumerate(unit_of):
        engines = entries[name].get("dispatch", "group") != "group"
        if engines and g not in firsts and unit_of[g - 1] == name:
            head[g] = head[g - 1]
    for g in reversed(range(len(unit_of) - 1)):
        if head[g + 1] == head[g]:
            tail[g] = tail[g + 1]
    return head, tail


def begin_of(problem, n, repeat):
    """When a repeat, counted from 1, is released, from the release of the frame."""
    network = problem["networks"][n]
    later = 0
    if network.get("paced"):
        later = (repeat - 1) * problem["execution"]["period_ps"] // network["repeats"]
    return network["arrival_ps"] + later


def time_of(unit, g, index, repeat):
    """Stand-alone time of a repeat, counted from 1."""
    step = at(unit["step_ps"][g], index) if "step_ps" in unit else 0
    return at(unit["time_ps"][g], index) + (repeat - 1) * step


def mover_of(problem, e, unit_of):
    """The group whose work the transition of an edge is, None if it is a delay."""
    moves = {unit["name"]: unit.get("moves_tensors", False) for unit in problem["units"]}
    if moves[unit_of[e["target"]]]:
        return e["target"]
    return e["source"] if moves[unit_of[e["source"]]] else None


def transition_of(problem, e, unit_of):
    """How long the transition of an edge takes."""
    number = {unit["name"]: u for u, unit in enumerate(problem["units"])}
    return e["transition_ps"][number[unit_of[e["source"]]]][number[unit_of[e["target"]]]]


def delay_of(problem, e, unit_of):
    """The part of it that is no unit's work."""
    is_work = mover_of(problem, e, unit_of) is not None
    return 0 if is_work else transition_of(problem, e, unit_of)


def moving_of(problem, g, unit_of):
    """How much longer a group takes for transitions that are its work."""
    return sum(
        transition_of(problem, e, unit_of)
        for e in problem["edges"]
        if g in (e["source"], e["target"]) and mover_of(problem, e, unit_of) == g
    )


def replay(problem, unit_of, point, priorities=None, endless=False):
    """{(frame, network, repeat, group): (ready, start, end)} of one frame alone; or, with frames
    that never run out, of the long run, and its window: for its beginning and its end the instant
    and {unit: (execution, work left)} of what runs then.

    unit_of: unit name per group, through all networks; point: index per domain name; priorities: by
    network that of all its groups or those of each, None for the problem's. What starts at the
    window's end or later may have no end.
    """
    units = {unit["name"]: unit for unit in problem["units"]}
    number = {unit["name"]: u for u, unit in enumerate(problem["units"])}
    place = places_of(problem)
    index = {name: [point[clock] for clock in unit["clocks"]] for name, unit in units.items()}
    m = point[problem["memory_domain"]] if problem["memory_domain"] else 0
    demand = [at(units[u]["demand_kbps"][g], index[u]) for g, u in enumerate(unit_of)]
    networks = problem["networks"]
    if priorities is None:
        priorities = {n["name"]: [n.get("priority", 0)] for n in networks}
    groups = [range(n["first_group"], n["first_group"] + len(n["group_names"])) for n in networks]
    name_index = {network["name"]: n for n, network in enumerate(networks)}
    incoming = {g: [e for e in problem["edges"] if e["target"] == g] for g in range(len(unit_of))}
    rates = endless and problem["execution"]["model"] == "rates"
    period = problem["execution"].get("period_ps")
    streams = [[n] for n in range(len(networks))] if rates else streams_of(problem)
    stream_of = {n: s for s, members in enumerate(streams) for n in members}
    in_flight = problem["execution"].get("frames_in_flight", 1) if endless else 1

    def awaited(frame, n, repeat, g):
        """Executions that must end first, each with the delay after it."""
        for e in incoming[g]:
            yield (frame, n, repeat, e["source"]), delay_of(problem, e, unit_of)
        if not incoming[g] and repeat > 1:
            yield from (((frame, n, repeat - 1, other), 0) for other in groups[n])
        for other in (name_index[name] for name in networks[n]["waits_for"]):
            if not incoming[g] and (repeat == 1 or networks[n].get("paced")):
                often = networks[n]["repeats"] if networks[n].get("paced") else 1
                last = networks[other]["repeats"]
                if networks[other].get("paced"):
                    last = 1 + math.floor(Fraction((repeat - 1) * last, often))
                yield from (((frame, other, last, o), 0) for o in groups[other])
        if repeat == 1:
            yield from handed_over(frame, g)

    def handed_over(frame, g):
        for h in problem.get("handovers", []):
            if h["target"] == g:
                (other,) = (o for o in range(len(groups)) if h["source"] in groups[o])
                delay = h["transition_ps"][number[unit_of[h["source"]]]][number[unit_of[g]]]
                yield (frame, other, networks[other]["repeats"], h["source"]), delay

    head, tail = engines_of(problem, unit_of)

    def level_of(key):
        """The priority of a group, which its network's groups may have in common."""
        levels = priorities[networks[key[1]]["name"]]
        return levels[key[3] - groups[key[1]][0] if len(levels) > 1 else 0]

    def slot_of(key):
        """The unit's place for it: a shared one has a place for each network."""
        u = place[unit_of[key[3]]]
        return u, key[1] if units[u].get("dispatch") == "shared" else None

    def from_outside(key, needs):
        """What an engine needs, as ``needs`` says it of each group; what it reads from another
        leaves that at its end."""
        frame, n, repeat, g = key
        before = {}
        for h in range(g, tail[g] + 1):
            for (f, m, r, other), delay in needs(frame, n, repeat, h):
                if (f, m, r, head[other]) != key:
                    last = f, m, r, tail[other]
                    before[last] = max(delay, before.get(last, 0))
        return before

    def inputs(frame, n, repeat, g):
        if incoming[g]:
            return awaited(frame, n, repeat, g)
        return handed_over(frame, g) if repeat == 1 else ()

    def begun(key):
        entry = unit_of[key[3]]
        time = time_of(units[entry], key[3], index[entry], key[2])
        time += moving_of(problem, key[3], unit_of)
        start[key], running[slot_of(key)] = now, (key, time * 65536)

    todo, left, released, opened = {}, {}, {}, {}

    def release(s, frame, now):
        keys = [
            (frame, n, repeat, g)
            for n in streams[s]
            for repeat in range(1, networks[n]["repeats"] + 1)
            for g in groups[n]
        ]
        firsts = [key for key in keys if head[key[3]] == key[3]]
        todo.update((key, from_outside(key, awaited)) for key in firsts)
        left[s, frame], opened[s, frame] = set(keys), now
        released[s, frame] = (frame - 1) * period if rates else now

    def state(now):
        oldest = {s: min(f for t, f in released if t == s) for s, _ in released}
        lacking, begun_keys = {}, {key for key, _ in running.values()}
        for key in {key for keys in left.values() for key in keys} - begun_keys - queued.keys():
            lasts = [((*other[:3], tail[other[3]]), delay) for other, delay in inputs(*key)]
            there = [end[last] + delay - now for last, delay in lasts if last in end]
            if there:
                lacking[key] = max(there)

        def sort(entries):
            return sorted((f - oldest[stream_of[n]], n, r, g, x) for (f, n, r, g), x in entries)

        return (
            sorted((s, f - oldest[s], then - now) for (s, f), then in released.items()),
            sort((key, 0) for keys in left.values() for key in keys),
            sort((key, when - now) for key, when in queued.items()),
            sort(running.values()),
            sort(lacking.items()),
        )

    for s in range(len(streams)):
        for frame in range(1, in_flight + 1):
            release(s, frame, 0)
    ready, start, end, running, queued, now = {}, {}, {}, {}, {}, 0
    ended, rounds, kept, begin, window = [0] * len(streams), 0, None, None, None
    while todo or queued or running:
        for slot in [slot for slot, (_, work) in running.items() if work <= 0]:
            key = running.pop(slot)[0]
            end[key] = now
            if tail[key[3]] != key[3]:
                ready[*key[:3], key[3] + 1] = now
                begun((*key[:3], key[3] + 1))
            s, frame = stream_of[key[1]], key[0]
            left[s, frame].remove(key)
            if endless and not left[s, frame]:
                del left[s, frame], released[s, frame]
                ended[s] += 1
                release(s, frame + in_flight, now)
        for key, before in list(todo.items()):
            if all(other in end for other in before):
                frame, n, repeat, g = key
                instants = [end[other] + delay for other, delay in before.items()]
                source = any(not incoming[h] for h in range(g, tail[g] + 1))
                if source and (repeat == 1 or networks[n].get("paced")):
                    due = begin_of(problem, n, repeat) + networks[n].get("batch_wait_ps", 0)
                    instants.append(released[stream_of[n], frame] + due)
                    instants.append(opened[stream_of[n], frame])
                ready[key] = queued[key] = max(instants)
                del todo[key]
        if endless and window is None and min(ended) > rounds:
            rounds = min(ended)
            here = now, dict(running)
            if len(streams) == 1 or rates:
                form = state(now)
                if kept and kept[1] == form:
                    window = kept[2], here
                elif not kept or rounds >= 2 * kept[0]:
                    kept = rounds, form, here
            few, many = (2048, 8192) if len(streams) == 1 else (768, 3072)
            if (
                not rates
                and not window
                and begin
                and rounds >= 2 * in_flight + 8
                and len(end) >= many
            ):
                window = begin, here
            if not begin and rounds >= in_flight + 2 and len(end) >= few:
                begin = here
        if rates and not window and now >= 32 * period:
            break
        if window and all(start[key] >= window[1][0] for key, _ in running.values()):
            break
        for slot in {slot_of(key) for key in queued} - running.keys():
            queue = [
                (level_of(key), when, *key)
                for key, when in queued.items()
                if when <= now and slot_of(key) == slot
            ]
            if queue:
                key = min(queue)[2:]
                begun(key)
                del queued[key]
        rate, on = {}, {}
        for (u, _), (key, _) in running.items():
            on.setdefault(u, []).append(demand[key[3]])
        for slot, (key, _) in running.items():
            u = slot[0]
            others = sum(max(demands) for v, demands in on.items() if v != u)
            rate[slot] = 65536 - loss(units[u]["contention"], m, demand[key[3]], others)
            if len(on[u]) > 1:
                overhead = units[u].get("sharing_permille", 0)
                share = 65536000 // (len(on[u]) * (1000 + overhead))
                rate[slot] = max(1, rate[slot] * share // 65536)
        instants = [now - (-work // rate[u]) for u, (_, work) in running.items()]
        instants += [when for when in queued.values() if when > now]
        if not instants:
            break
        step, now = min(instants) - now, min(instants)
        running = {u: (key, work - rate[u] * step) for u, (key, work) in running.items()}
    rows = {key: (ready[key], start[key], end.get(key)) for key in sorted(start)}
    return (rows, window) if endless else rows


def guaranteed(problem, unit_of, point, rows):
    """{(frame, network, repeat, group): end} of the late timeline."""
    units = {unit["name"]: unit for unit in problem["units"]}
    number = {unit["name"]: u for u, unit in enumerate(problem["units"])}
    networks, place = problem["networks"], places_of(problem)
    index = {name: [point[clock] for clock in unit["clocks"]] for name, unit in units.items()}
    m = point[problem["memory_domain"]] if problem["memory_domain"] else 0
    demand = [at(units[u]["demand_kbps"][g], index[u]) for g, u in enumerate(unit_of)]
    named = {network["name"]: n for n, network in enumerate(networks)}
    head, tail = engines_of(problem, unit_of)
    shares = {name: unit.get("dispatch") == "shared" for name, unit in units.items()}
    slot = {k: (place[u := unit_of[k[3]]], k[1] if shares[u] else None) for k in rows}
    inputs, begins = {}, (dict.fromkeys(rows, 0), dict.fromkeys(rows, 0))
    for key in rows:
        _, n, repeat, g = key
        inputs[key] = []
        for e in problem["edges"]:
            if e["target"] == g:
                delay = delay_of(problem, e, unit_of)
                inputs[key].append(((1, n, repeat, e["source"]), delay))
        if not inputs[key]:
            others = [(n, repeat - 1)]
            for o in networks[n]["waits_for"] if repeat == 1 or networks[n].get("paced") else []:
                last, often = networks[named[o]]["repeats"], releases_in(networks[n])
                if networks[named[o]].get("paced"):
                    last = 1 + (repeat - 1) * last // often
                others.append((named[o], last))
            inputs[key] = [(other, 0) for other in rows if (other[1], other[2]) in others]
            if repeat == 1 or networks[n].get("paced"):
                first = (*key[:3], head[g])
                begin = begin_of(problem, n, repeat) + networks[n].get("batch_wait_ps", 0)
                begins[0][first] = max(begins[0][first], begin)
                begin += networks[n].get("jitter_ps", 0)
                begins[1][first] = max(begins[1][first], begin)
        for h in problem.get("handovers", []) if repeat == 1 else []:
            if h["target"] == g:
                delay = h["transition_ps"][number[unit_of[h["source"]]]][number[unit_of[g]]]
                last = max(other for other in rows if other[3] == h["source"])
                inputs[key].append((last, delay))
    ranks, todo = {}, sorted(rows)
    while todo:
        key = next(k for k in todo if all(source in ranks for source, _ in inputs[k]))
        ranks[key] = len(ranks)
        todo.remove(key)
    order = sorted(rows, key=lambda k: (rows[k][1], rows[k][2] > rows[k][1], ranks[k]))
    # An engine waits for all that its groups need, and its results leave at its end.
    needs, inputs = inputs, {key: [] for key in rows}
    for key, entries in needs.items():
        first = (*key[:3], head[key[3]])
        for source, delay in entries:
            if (*source[:3], head[source[3]]) != first:
                inputs[first].append(((*source[:3], tail[source[3]]), delay))
    last_on, before = {}, {}
    for key in order:
        if slot[key] in last_on:
            inputs[key].append((last_on[slot[key]], 0))
        last_on[slot[key]] = key
        sources = [source for source, _ in inputs[key]]
        before[key] = set(sources).union(*(before[source] for source in sources))
    now, ended, running, started = 0, ({}, {}), ({}, {}), (set(), set())
    while len(ended[1]) < len(rows):
        instants = []
        for side, factor in enumerate(problem["tolerance_permille"]):
            for key in [k for k in order if k not in started[side]]:
                if all(source in ended[side] for source, _ in inputs[key]):
                    ends = [ended[side][source] + delay for source, delay in inputs[key]]
                    ready = max([begins[side][key], *ends])
                    if ready > now:
                        instants.append(ready)
                        continue
                    entry = unit_of[key[3]]
                    time = time_of(units[entry], key[3], index[entry], key[2])
                    time = (time + moving_of(problem, key[3], unit_of)) * factor
                    running[side][key] = 65536 * (-(-time // 1000) if side else time // 1000)
                    started[side].add(key)
        rate = ({}, {})
        for side in (0, 1):
            for key in running[side]:
                own, most, beside = place[unit_of[key[3]]], {}, set()
                for other in order:
                    both = other in running[0] and other in running[1]
                    may = other in started[0] and other not in ended[1]
                    apart = other in before[key] or key in before[other]
                    if (may and not apart) if side else both:
                        u = place[unit_of[other[3]]]
                        most[u] = max(most.get(u, 0), demand[other[3]])
                        beside |= {slot[other]} if u == own else set()
                y = sum(most.values()) - most.get(own, 0)
                rate[side][key] = 65536 - loss(units[own]["contention"], m, demand[key[3]], y)
                if count := len(beside - {slot[key]}):
                    overhead = units[own].get("sharing_permille", 0)
                    share = 65536000 // ((count + 1) * (1000 + overhead))
                    rate[side][key] = max(1, rate[side][key] * share // 65536)
                instants.append(now - (-running[side][key] // rate[side][key]))
        step, now = min(instants) - now, min(instants)
        for side in (0, 1):
            for key in list(running[side]):
                running[side][key] -= rate[side][key] * step
                if running[side][key] <= 0:
                    ended[side][key] = now
                    del running[side][key]
    return ended[1]


def streams_of(problem):
    """The networks of each stream."""
    everything = list(range(len(problem["networks"])))
    free = problem["execution"]["model"] == "free-running"
    return [[n] for n in everything] if free else [everything]


def figures(problem, unit_of, point, rows, played=None):
    """Objective name to value, from one frame played alone and, of a pipeline, from the long run;
    and the energy of each unit."""
    makespan = max(end for _, _, end in rows.values())
    result = {"latency_ps": makespan, "negative_rate_sum_uhz": 0}
    for n, network in enumerate(problem["networks"]):
        last = max(end for key, (_, _, end) in rows.items() if key[1] == n)
        latency = result["latency_ps:" + network["name"]] = max(
            end - begin_of(problem, n, key[2]) for key, (_, _, end) in rows.items() if key[1] == n
        )
        result["negative_rate_sum_uhz"] -= 10**18 // latency
        begin = max(
            network["arrival_ps"],
            *(
                end
                for key, (_, _, end) in rows.items()
                if problem["networks"][key[1]]["name"] in network["waits_for"]
            ),
            0,
        )
        each = -(-(last - begin) // network["repeats"])
        result["time_per_token_ps" + ":" + network["name"]] = each
    if problem.get("tolerance_permille"):
        late = guaranteed(problem, unit_of, point, rows)
        result["guaranteed_latency_ps"] = max(late.values())
        for n, network in enumerate(problem["networks"]):
            ends = ((key, end) for key, end in late.items() if key[1] == n)
            longest = max(end - begin_of(problem, n, key[2]) for key, end in ends)
            result["guaranteed_latency_ps:" + network["name"]] = longest
            result["guaranteed_response_ps:" + network["name"]] = longest
        names = ["guaranteed_response_ps:" + network["name"] for network in problem["networks"]]
        result["guaranteed_response_ps"] = max(result[name] for name in names)
    if problem["execution"]["model"] == "rates":
        result |= of_responses(problem, rows, played)
    units = {unit["name"]: unit for unit in problem["units"]}
    alone = sum(
        time_of(units[u], key[3], [point[clock] for clock in units[u]["clocks"]], key[2])
        + moving_of(problem, key[3], unit_of)
        for key, u in ((key, unit_of[key[3]]) for key in rows)
    )
    busy = sum(used_of(problem, unit_of, point, rows)[0].values())
    if problem["execution"]["model"] == "rates" and played:
        (begin, _), (last, _) = played[1]
        inside = clipped(played[0], begin, last)
        busy = sum(used_of(problem, unit_of, point, inside)[0].values())
        busy //= (last - begin) // problem["execution"]["period_ps"]
    result["stretch_ppm"] = (busy - alone) * 10**6 // alone
    lost = [units[u].get("loss_ppm", [0] * len(unit_of))[g] for g, u in enumerate(unit_of)]
    result["accuracy_loss_ppm"] = sum(lost)
    for network in problem["networks"]:
        first = network["first_group"]
        own = lost[first : first + len(network["group_names"])]
        result["accuracy_loss_ppm" + ":" + network["name"]] = sum(own)

    result["memory_bytes"] = sum(memory_of(problem, unit_of).values())

    counted, idle_ps, per, count = rows, makespan, (1, 1), 1
    spent = dict.fromkeys(units, 0)
    execution = problem["execution"]
    free = execution["model"] == "free-running"
    if execution["model"] in ("periodic", "rates"):
        idle_ps = execution["period_ps"]
    if execution["model"] == "closed-form":
        load, spent = closed_form(problem, unit_of, point)
        result["time_per_image_ps"] = per_image(problem, [max(load.values())])
        counted = {}
        idle_ps = max(load.values())
        if execution["idle_time"] == "sum-of-loads":
            idle_ps = sum(load.values())
    elif execution["model"] == "rates":
        if played:
            (begin, _), (last, _) = played[1]
            counted = clipped(played[0], begin, last)
            count = (last - begin) // idle_ps
    elif played is not None:
        (begin, _), (last, _) = played[1]
        periods = stream_periods(problem, unit_of, point, *played)
        mean = per_image(problem, periods)
        result["time_per_image_ps"], idle_ps = mean, last - begin
        if free:
            pairs = zip(times_alone(problem), periods, strict=True)
            result["negative_fairness_ppm"] = -min(10**6 * time // each for time, each in pairs)
        per = (mean if free else periods[0]), len(periods) * idle_ps
        counted = clipped(played[0], begin, last)
    needed = {c for u in problem["units"] if u["name"] in unit_of for c in u["clocks"]}
    energy = problem["board_mw"] * idle_ps
    for domain in problem["domains"]:
        if not domain["may_be_off"] or domain["name"] in needed:
            needed.add(domain["name"])
            static = domain["operating_points"][point[domain["name"]]]["static_mw"]
            energy += static * idle_ps
    by_unit = dict.fromkeys(units, 0)
    place, drawn = places_of(problem), used_of(problem, unit_of, point, counted)[1]
    for unit in problem["units"]:
        index = [point[clock] for clock in unit["clocks"]]
        idle = at(unit["idle_mw"], index) if unit["clocks"][0] in needed else 0
        of_groups = drawn.get(unit["name"], 0) // count
        by_unit[place[unit["name"]]] += spent[unit["name"]] + idle * idle_ps + of_groups
    whole = energy + sum(by_unit.values())
    energy = whole * per[0] // per[1]
    result["energy_fj"] = energy
    for network in problem["networks"]:
        each = energy // network["repeats"]
        result["energy_per_token_fj" + ":" + network["name"]] = each
    result["power_uw"] = 1000 * whole // max(1, idle_ps)
    result["energy_per_image_fj"] = energy if free else energy // sum(images_of(problem))
    return result, {name: value * per[0] // per[1] for name, value in by_unit.items()}


def used_of(problem, unit_of, point, rows):
    """How long each unit is busy, with one group or several, and what it draws above idle."""
    units, place = {unit["name"]: unit for unit in problem["units"]}, places_of(problem)
    busy, drawn, changes = {}, {}, {}
    for key, (_, start, end) in rows.items():
        unit = units[unit_of[key[3]]]
        power = at(unit["dynamic_mw"][key[3]], [point[clock] for clock in unit["clocks"]])
        changes.setdefault(place[unit["name"]], []).extend([(start, 1, power), (end, -1, -power)])
    for u, steps in changes.items():
        before, count, power, busy[u], drawn[u] = 0, 0, 0, 0, 0
        for now, more, milliwatts in sorted(steps):
            if count > 0:
                busy[u] += now - before
                drawn[u] += -(-power // count) * (now - before)
            before, count, power = now, count + more, power + milliwatts
    return busy, drawn


def images_of(problem):
    """Of every network in a frame; tokens of an answer make one."""
    continued = {entry["target"] for entry in problem.get("handovers", [])}
    counts = []
    for network in problem["networks"]:
        first = network["first_group"]
        inside = range(first, first + len(network["group_names"]))
        repeats = 1 if continued & set(inside) else network["repeats"]
        counts.append(network.get("batch", 1) * repeats)
    return counts


def per_image(problem, periods):
    """The time that belongs to the mean of all networks' images per second, rounded up."""
    images = images_of(problem)
    each = periods * len(images) if len(periods) == 1 else periods
    return math.ceil(len(images) / sum(map(Fraction, images, each)))


def memory_of(problem, unit_of):
    """Bytes in each pool."""
    units = {unit["name"]: unit for unit in problem["units"]}
    held = {}

    def hold(unit, size):
        pool = unit.get("memory_pool")
        held[pool] = held.get(pool, 0) + size

    for network in problem["networks"]:
        first, count = network["first_group"], len(network["group_names"])
        groups = range(first, first + count)
        most = [network.get("activation_bytes", 0)] * count
        most = network.get("group_activation_bytes", most)
        largest = {}
        for g in groups:
            unit = units[unit_of[g]]
            size = most[g - first]
            if size >= largest.get(unit.get("memory_pool"), (0, None))[0]:
                largest[unit.get("memory_pool")] = size, unit
            if "weight_bytes" in unit and not unit.get("loads_whole_networks"):
                hold(unit, unit["weight_bytes"][g])
        for size, unit in largest.values():
            hold(unit, size)
        for name in {unit_of[g] for g in groups}:
            if "weight_bytes" in units[name] and units[name].get("loads_whole_networks"):
                hold(units[name], sum(units[name]["weight_bytes"][g] for g in groups))
    return held


def caps_broken(problem, unit_of):
    """Names of limits of memory that a mapping is above."""
    held = memory_of(problem, unit_of)
    caps = [("memory", sum(held.values()), problem.get("memory_cap_bytes"))]
    for pool in problem.get("memory_pools", []):
        caps.append((f"memory of {pool['name']}", held.get(pool["name"], 0), pool["cap_bytes"]))
    return [name for name, size, cap in caps if cap is not None and size > cap]


def clipped(rows, begin, last):
    """What lies in a window of each execution."""
    return {
        key: (ready, max(start, begin), last if end is None else min(last, end))
        for key, (ready, start, end) in rows.items()
        if start < last and (end is None or end > begin)
    }


def releases_in(network):
    """In a period."""
    return network["repeats"] if network.get("paced") else 1


def responses_of(problem, rows, played, n):
    """Of a network with a rate: from each release to its end, rising; of what ends in the window
    that recurs, else of the first period alone."""
    network, period = problem["networks"][n], problem["execution"]["period_ps"]
    groups = range(network["first_group"], network["first_group"] + len(network["group_names"]))
    begin, last = -1, math.inf
    if played:
        rows, ((begin, _), (last, _)) = played
    times = []
    for frame in {key[0] for key in rows if key[1] == n}:
        for release in range(1, releases_in(network) + 1):
            repeats = [release] if network.get("paced") else range(1, network["repeats"] + 1)
            keys = [(frame, n, repeat, g) for repeat in repeats for g in groups]
            if all(key in rows and rows[key][2] is not None for key in keys):
                end = max(rows[key][2] for key in keys)
                if begin < end <= last:
                    times.append(end - (frame - 1) * period - begin_of(problem, n, release))
    return sorted(times)


def summary_of(problem, rows, played, n):
    """What a member says of a network's responses."""
    network, period = problem["networks"][n], problem["execution"]["period_ps"]
    times, deadline = responses_of(problem, rows, played, n), network["deadline_ps"]
    if deadline is None:
        deadline = period // releases_in(network) + network.get("batch_wait_ps", 0)
    count = (played[1][1][0] - played[1][0][0]) // period if played else 1
    return {
        "percentile_95_ps": times[math.ceil(Fraction(95 * len(times), 100)) - 1],
        "jitter_ps": times[-1] - times[0],
        "misses": math.ceil(Fraction(len([time for time in times if time > deadline]), count)),
    }


def of_responses(problem, rows, played):
    """Objectives of responses, of each network and of all."""
    period, found = problem["execution"]["period_ps"], {}
    for n, network in enumerate(problem["networks"]):
        times = responses_of(problem, rows, played, n)
        entry = summary_of(problem, rows, played, n)
        found[network["name"]] = {
            "response_ps": times[-1],
            "response_95_ps": entry["percentile_95_ps"],
            "jitter_ps": entry["jitter_ps"],
            "misses": entry["misses"],
            "relative_response_ppm": times[-1] * releases_in(network) * 10**6 // period,
        }
    names = ("response_ps", "response_95_ps", "jitter_ps", "misses", "relative_response_ppm")
    result = {}
    for name in names:
        values = {network: entry[name] for network, entry in found.items()}
        result[name] = (sum if name == "misses" else max)(values.values())
        result |= {f"{name}:{network}": value for network, value in values.items()}
    return result


def stream_periods(problem, unit_of, point, rows, window):
    """Of each stream what a frame takes in the mean of the window, rounded up."""
    (begin, before), (last, after) = window
    units = {unit["name"]: unit for unit in problem["units"]}
    networks, place = problem["networks"], places_of(problem)

    def alone(g, repeat):
        unit = units[unit_of[g]]
        time = time_of(unit, g, [point[clock] for clock in unit["clocks"]], repeat)
        return time + moving_of(problem, g, unit_of)

    periods = []
    for members in streams_of(problem):
        load, done = dict.fromkeys(units, 0), dict.fromkeys(units, 0)
        for n in members:
            first = networks[n]["first_group"]
            for g in range(first, first + len(networks[n]["group_names"])):
                for repeat in range(networks[n]["repeats"]):
                    load[place[unit_of[g]]] += alone(g, repeat + 1)
        for (_, n, r, g), (_, _, end) in rows.items():
            if n in members and end is not None and begin < end <= last:
                done[place[unit_of[g]]] += alone(g, r)
        for running, sign in ((before, -1), (after, 1)):
            for (u, _), ((_, n, r, g), work) in running.items():
                if n in members:
                    done[u] += sign * ((alone(g, r) * 65536 - work) // 65536)
        window_ps = last - begin
        periods.append(max(-(-load[u] * window_ps // done[u]) for u in units if load[u]))
    return periods


def flat(table):
    return [time for part in table for time in flat(part)] if isinstance(table, list) else [table]


def times_alone(problem):
    """Per network: the least time of a frame on one unit, other units helping where it cannot."""
    repeats = [n["repeats"] for n in problem["networks"] for _ in n["group_names"]]

    def frames(unit, g):
        """At every choice of clocks: all repeats together."""
        times = flat(unit["time_ps"][g])
        steps = flat(unit["step_ps"][g]) if "step_ps" in unit else [0] * len(times)
        count = repeats[g]
        return [
            count * time + count * (count - 1) // 2 * step if time > 0 else time
            for time, step in zip(times, steps, strict=True)
        ]

    every = [[frames(unit, g) for g in range(len(repeats))] for unit in problem["units"]]
    best = [
        min((time for unit in every for time in unit[g] if time > 0), default=1 << 47)
        for g in range(len(every[0]))
    ]
    result = []
    for network in problem["networks"]:
        groups = range(network["first_group"], network["first_group"] + len(network["group_names"]))
        choices = [
            sum(best[g] if unit[g][k] < 1 else unit[g][k] for g in groups)
            for unit in every
            for k in range(len(unit[0]))
        ]
        result.append(min(choices))
    return result


def beginning(problem, unit_of, point, rows, window):
    """What ``free_run`` says of networks that run freely."""
    ends = sorted(end for _, _, end in rows.values() if end is not None)
    until = min([window[1][0], *ends[999:1000]])
    names = [network["name"] for network in problem["networks"]]
    periods = stream_periods(problem, unit_of, point, rows, window)
    return {
        "window_ps": [window[0][0], window[1][0]],
        "frame_periods_ps": dict(zip(names, periods, strict=True)),
        "shown_ps": until,
    }


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
        time = sum(time_of(units[name], g, index, r + 1) for r in range(repeats[g]))
        busy(name, time, at(units[name]["dynamic_mw"][g], index))
    for e in problem["edges"]:
        ends = unit_of[e["source"]], unit_of[e["target"]]
        if ends[0] == ends[1] and problem["execution"]["channels"] == "between-units":
            continue
        for name, rate in zip(ends, ("write_fs", "read_fs"), strict=True):
            channels = units[name]["channels"]
            k = point[channels["clock"]]
            time = -(-e["tokens"] * channels[rate][k] // 1000) * repeats[e["source"]]
            busy(name, time, channels["busy_mw"][k])
    return load, spent


def what_recurs(problem, unit_of, point, priorities, rows):
    """Of networks with rates: what is simulated beyond the first period, or None; and the window,
    None where nothing recurs."""
    period = problem["execution"]["period_ps"]
    if max(end for _, _, end in rows.values()) <= period:
        return None, [0, period]
    played = replay(problem, unit_of, point, priorities, endless=True)
    if played[1] is None:
        return None, None
    return played, [played[1][0][0], played[1][1][0]]


def main(folder):
    text = (folder / "problem.json").read_bytes()
    problem, front = json.loads(text), json.loads((folder / "front.json").read_bytes())
    wrong = []
    if hashlib.sha256(text).hexdigest() != front["problem_sha256"]:
        wrong.append("problem_sha256")
    for i, member in enumerate(front["members"]):
        unit_of = [unit for n in problem["networks"] for unit in member["mapping"][n["name"]]]
        point = {d: p["index"] if p else 0 for d, p in member["operating_points"].items()}
        priorities = member.get("priorities")
        rows = replay(problem, unit_of, point, priorities)
        said = played = None
        model = problem["execution"]["model"]
        if model in ("pipeline", "free-running"):
            played = replay(problem, unit_of, point, priorities, endless=True)
        if model == "rates":
            played, window = what_recurs(problem, unit_of, point, priorities, rows)
            if member["window_ps"] != window:
                wrong.append(f"member {i}: window_ps")
        if model == "free-running":
            said = beginning(problem, unit_of, point, *played)
        if member["free_run"] != said:
            wrong.append(f"member {i}: free_run")
        result, by_unit = figures(problem, unit_of, point, rows, played)
        if model == "rates":
            for n, network in enumerate(problem["networks"]):
                if member["responses"][network["name"]] != summary_of(problem, rows, played, n):
                    wrong.append(f"member {i}: responses of {network['name']}")
        if member["makespan_ps"] != result["latency_ps"]:
            wrong.append(f"member {i}: makespan_ps")
        what = "response_ps:" if model == "rates" else "latency_ps:"
        for name, value in member["latencies_ps"].items():
            if value != result[what + name]:
                wrong.append(f"member {i}: latencies_ps")
        for name, value in member["objectives"].items():
            if result[name] != value:
                wrong.append(f"member {i}: {name} is {result[name]}, the file says {value}")
        for name in caps_broken(problem, unit_of):
            wrong.append(f"member {i}: above the limit of {name}")
        if by_unit != member["energy_by_unit_fj"]:
            wrong.append(f"member {i}: energy_by_unit_fj")
    print("\n".join(wrong) or f"{len(front['members'])} members: all objectives agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
