"""Periodic schedules on processing elements in memory (Mobile-I): result, check, files, views."""
