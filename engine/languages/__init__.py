"""What language a text is in, and which words of the word index stand for it. Pure; knows no index and no model."""
