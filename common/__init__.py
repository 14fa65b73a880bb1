"""What every package uses: the base of all errors, files, strict JSON, and printable texts."""
