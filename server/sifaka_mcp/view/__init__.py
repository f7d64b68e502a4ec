"""What tools and commands print for a reader."""
