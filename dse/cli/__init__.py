"""The command ``dse``. A command parses its options, calls the library and prints."""
