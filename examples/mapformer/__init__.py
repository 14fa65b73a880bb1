"""MapFormer (Karatzas and Anagnostopoulos, ICCAD 2024): its tables and figures, predicted."""
