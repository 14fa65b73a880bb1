"""Verification of result folders without trusting what wrote them."""
