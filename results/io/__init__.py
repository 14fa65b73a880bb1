"""Reading and writing: canonical JSON, schemas, folders written atomically, optional packages."""
