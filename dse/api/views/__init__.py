"""A front as pictures, as a page and for a terminal."""
