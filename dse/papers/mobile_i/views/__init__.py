"""Views of periodic results: tables, pictures, traces and the page."""
