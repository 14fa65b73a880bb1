"""The fronts of Tang et al. (SAMOS 2021) computed anew."""
