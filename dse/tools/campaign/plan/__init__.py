"""The way from a campaign file to runs: lists, exclusions, settings and their hashes."""
