"""Tools around an exploration: analysis, campaigns, deployment, measurements on this machine."""
