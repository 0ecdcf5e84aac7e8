"""A checkpoint for other programs: `headlight export ctranslate2 | marian`.

`ctranslate2` writes for CTranslate2, `marian` for whatever reads MarianMT folders; `manifest` is
what both leave beside the model.
"""
