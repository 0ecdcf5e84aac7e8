"""A checkpoint as a model of another engine: `python -m transformer.export ctranslate2`."""
