"""What a model card says, from the files of a run."""
