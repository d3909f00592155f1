"""A summary as text: for a terminal, as Markdown, as JSON; the same bytes for the same run."""
