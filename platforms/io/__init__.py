"""Reading a platform: a document against its schema, its base documents, its sections as records.

JSON here keeps the decimals that were written (``exact_json``). ``platform_file`` also writes a
platform as a file to edit.
"""
