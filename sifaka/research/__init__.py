"""Research: the first version of a run, made of evidence by graphs of agents.

After DeepCritical's two graphs, iterative and deep, on pydantic-graph.
"""
