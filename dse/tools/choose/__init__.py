"""Which board serves a workload: one exploration per platform, judged by draws of its costs."""
