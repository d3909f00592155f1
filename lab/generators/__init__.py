"""The programs that make the load, behind one protocol: `lab.model.parts.Generator`."""
