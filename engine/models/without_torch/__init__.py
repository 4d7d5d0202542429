"""WITHOUT TORCH: which part of a Mamba2 a width runs, and a Mamba2 in numpy that reads queries."""
