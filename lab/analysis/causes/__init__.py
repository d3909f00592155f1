"""What the rules of the diagnosis look at, and the rules: see `lab.analysis.diagnose`."""
