"""Rules about configurations, with an example, a source and a fix for each."""
