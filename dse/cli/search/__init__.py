"""Commands that search, prove or evaluate."""
