"""What every package uses: errors, files, strict JSON, printable texts, array types, units."""
