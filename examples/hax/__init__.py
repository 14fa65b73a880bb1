"""The tables and figures of HaX-CoNN (Dagli and Belviranli, PPoPP 2024) computed anew."""
