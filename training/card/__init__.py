"""Contents of a model card, from the files of a run."""
