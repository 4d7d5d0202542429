"""What becomes of search results outside the app: records for other programs, levels to leave out, the last hits."""
