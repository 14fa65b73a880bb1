"""Profiles: the user's own measurements of layers and groups, which replace estimates."""
