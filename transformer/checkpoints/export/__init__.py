"""A checkpoint for other programs: `python -m transformer.export ctranslate2 | marian`.

`folder` and `specification` write for CTranslate2, `marian` and `marian_weights` for whatever reads
MarianMT folders; `manifest` is what both leave beside the model.
"""
