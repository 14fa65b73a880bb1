"""What makes the model files, by what they are."""
