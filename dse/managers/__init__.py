"""Managers: engines that search by what a predictor says of a mapping, as MapFormer does."""
