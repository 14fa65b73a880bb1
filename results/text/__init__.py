"""Tables and sentences about fronts and members, for terminals and pages. And data frames."""
