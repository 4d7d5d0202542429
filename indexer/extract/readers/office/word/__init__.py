"""Word documents: what Word shows of them, read part by part without a tree."""
