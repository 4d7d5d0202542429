"""The messages between parent and child, and the limits under which the child reads files."""
