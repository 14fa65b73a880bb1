"""What proofs are held to: plain searches and bounds, random lemmas, folders with errors."""
