"""Training stages: their losses, their teacher, and the loop that runs them."""
