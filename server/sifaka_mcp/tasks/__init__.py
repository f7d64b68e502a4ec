"""The tasks extension of MCP: a run that takes longer is a task, under the run's own id.

https://modelcontextprotocol.io/seps/2663-tasks-extension. Nothing about a task is kept: what it is
follows from the run in the store, so that any process answers for any task.
"""
