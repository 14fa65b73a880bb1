"""File formats of dataflow graphs: SDF3 XML and JSON."""
