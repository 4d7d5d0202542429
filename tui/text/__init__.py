"""Text before it reaches a widget: wording, layout, highlighting. Pure functions."""
