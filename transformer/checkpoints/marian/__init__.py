"""MarianMT folders, as the Hugging Face hub publishes them, in our own model.

A Marian Transformer (Junczys-Dowmunt et al. 2018) is the paper's, post-norm without a norm after
the stacks, with some differences, each undone or configured here, so that nothing else knows them:

- positions are sines in the first half of d_model and cosines in the second. Nothing but the
  positions depends on the order of d_model, so every d_model axis is permuted once;
- projections and the softmax have biases, and the activation is often swish: fields of our config;
- the decoder starts with `<pad>`, and special pieces have other ids: rows are put where ours stand;
- each language may have a vocabulary and an embedding of its own, and the projection a matrix;
- the decoder may have other sizes than the encoder, and embeddings no scale: fields of our config;
- tokens may be added to the vocabulary, and rows of the embedding have no name: all are pieces.
"""

from transformer.checkpoints.marian.folder import is_marian, load

__all__ = ["is_marian", "load"]
