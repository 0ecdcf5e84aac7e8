"""One teacher-forced pass of the model, with the weights of every head read at its hook point."""

from typing import Any

import torch

from transformer import config, errors
from transformer.kinds import KINDS
from transformer.model import Transformer
from transformer.text import special_tokens, tokenizer
from transformer.text.languages import OURS, Languages
from transformer.text.special_tokens import SpecialTokens, looks_special
from transformer.traces import fields


@torch.inference_mode()
def capture(
    model: Transformer,
    source: str,
    target: str,
    source_pieces: list[tokenizer.Piece],
    target_pieces: list[tokenizer.Piece],
    *,
    languages: Languages = OURS,
) -> fields.TraceFields:
    """Run the model once over a sentence pair and keep the weights of every head.

    What a decoder position looks at depends on earlier positions alone, so one pass over the
    whole translation gives what each step of the search saw.

    The source ends with `</s>`; the target is what the decoder is to write.
    """
    if not source_pieces or not target_pieces:
        raise errors.InputError("There is nothing to trace: give a sentence and its translation.")
    model.require_no_dropout()
    written = [piece.id for piece in target_pieces]
    read = [config.BOS, *written[:-1]]
    points = {kind: model.attention_points(kind, "pattern") for kind in KINDS}
    logits, cache = model.run_with_cache(
        torch.tensor([[piece.id for piece in source_pieces]], device=model.device),
        torch.tensor([read], device=model.device),
        names=lambda name: name.endswith("hook_pattern"),
    )
    log_p = logits[0].float().log_softmax(-1)  # [target, vocab]
    arrays: dict[Any, Any] = {
        kind: torch.cat([cache[name] for name in names]).float().cpu().numpy()
        for kind, names in points.items()
    }
    return fields.TraceFields(
        source=source,
        target=target,
        source_pieces=tuple(source_pieces),
        target_pieces=tuple(target_pieces),
        **arrays,
        log_probs=log_p[torch.arange(len(written)), written].cpu().numpy(),
        languages=languages,
        special=_special(source_pieces[0].text),
    )


def _special(first: str) -> SpecialTokens:
    """Return our special tokens, and the target language that a MarianMT source may begin with."""
    tokens = special_tokens.OURS.tokens
    return SpecialTokens(
        tokens | {first} if looks_special(first) else tokens, special_tokens.OURS.ends
    )
