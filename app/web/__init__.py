"""WEB: the app in a browser of this machine: the page, and the server that guards it."""
