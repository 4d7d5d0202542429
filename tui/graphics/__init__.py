"""GRAPHICS: pictures in a terminal, by the protocol that it speaks."""
