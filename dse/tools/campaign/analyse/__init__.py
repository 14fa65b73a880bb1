"""Tables, comparisons, exports and the report of a campaign."""
