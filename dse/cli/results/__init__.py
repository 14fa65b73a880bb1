"""Commands that read a result folder."""
