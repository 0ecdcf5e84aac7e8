"""Text and tokens: tokenizer, words, special tokens, languages, reader, forced prefix."""
