"""From arrays to what a person sees."""
