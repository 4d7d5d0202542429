"""VIEWING: a file in the viewer that the system has for it, and its pages as they are printed."""
