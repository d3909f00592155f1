"""One figure a module; each draws with the roles of `lab.report.palette` and knows no format."""
