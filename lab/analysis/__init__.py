"""What the trials mean: metrics, gates, comparisons, the summary. Nothing here does I/O."""
