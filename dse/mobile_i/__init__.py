"""Retimed periodic schedules on identical processing engines (Mobile-I), and those they are held
against."""
