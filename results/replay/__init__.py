"""Documents of replays (schedules that improve while the system runs) and of fidelity runs
(predicted beside measured).
"""
