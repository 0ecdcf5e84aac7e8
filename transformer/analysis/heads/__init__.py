"""Single heads: their measures, their roles, and the effect of their removal."""
