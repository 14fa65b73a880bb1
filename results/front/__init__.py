"""The Pareto front: members with their schedules, dominance and hypervolume, certificate, and the
documents of front.json and certificate.json."""
