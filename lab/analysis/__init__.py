"""From trials to conclusions: metrics, gates, causes, comparisons. No I/O."""
