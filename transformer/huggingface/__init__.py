"""What the library transformers returns as a trace; that library is never imported here."""

from transformer.huggingface.given_outputs import trace_of

__all__ = ["trace_of"]
