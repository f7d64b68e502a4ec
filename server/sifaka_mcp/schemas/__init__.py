"""Arguments and results of the tools, in their wire form."""
