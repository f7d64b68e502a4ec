"""Work on runs that outlives its request, and what happens when its process does not."""
