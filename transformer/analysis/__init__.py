"""What can be computed from a trace: nothing here runs a model or draws."""
