"""Settings for a board: nvpmodel sections, sysfs scripts, trtexec commands."""
