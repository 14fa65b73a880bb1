"""Mobile-I: retimed periodic schedules on processing elements in memory and on SoC pipelines."""
