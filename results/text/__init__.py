"""Tables, sentences and data frames about fronts and members, for terminals and pages."""
