"""Documents: JSON that is read, written and described by dataclasses."""
