"""Broken inputs and killed processes by the thousand, which must do no harm."""
