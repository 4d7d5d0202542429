"""Reads e-mail: single messages and mailboxes, with their attachments."""
