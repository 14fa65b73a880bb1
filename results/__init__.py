"""What was found: numeric problems, schedules and fronts as frozen types, and their files."""
