"""Shared foundations: errors, files, strict JSON, printable texts, array types, units."""
