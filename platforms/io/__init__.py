"""Reading a chip: a document against its schema, what it extends, and its sections as records.

JSON here keeps the decimals that were written (``exact_json``). ``platform_source`` writes a
platform as a file to edit.
"""
