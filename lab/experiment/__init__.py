"""From wishes to a run: the plan, the schedule of its blocks, and the trials themselves."""
