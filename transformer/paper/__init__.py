"""The paper's own parts as numbers: attention step by step, masks, positions, costs."""
