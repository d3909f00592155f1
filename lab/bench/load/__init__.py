"""Load generators, which all are a `lab.model.protocols.Generator`."""
