"""Tables and sentences about fronts and members, for terminals and pages; and data frames."""
