"""The app in a browser of this machine: the page, the server that guards it, and the program that each window runs."""
