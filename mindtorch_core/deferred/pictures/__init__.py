"""Looking at a pipeline: its graph, drawn, and its trace."""
