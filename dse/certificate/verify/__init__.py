"""Verification of result folders without trusting the program that wrote them."""
