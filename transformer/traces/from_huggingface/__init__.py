"""Outputs of the library transformers as a trace; that library is never imported here."""

from transformer.traces.from_huggingface.assembly import fields_of_outputs

__all__ = ["fields_of_outputs"]
