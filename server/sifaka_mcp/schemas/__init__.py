"""What the tools take and answer, as it goes over the wire."""
