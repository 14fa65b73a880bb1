"""How many measurements a choice takes, with published figures as the hidden truth."""
