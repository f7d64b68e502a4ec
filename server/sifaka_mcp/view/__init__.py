"""The text that tools and commands print for a reader."""
