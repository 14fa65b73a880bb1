"""D-HaX-CoNN: schedules that improve while the system runs, and their replay."""
