"""The addresses of all views of the app."""

from collections.abc import Mapping

VIEWS: dict[str, tuple[Mapping[str, str], ...]] = {
    "translate": ({},),
    "heads": (
        {},
        {"view": "step by step"},
        {"view": "compare"},
        {"view": "compare", "with": "another sentence"},
    ),
    "inside": ({},),
    "roles": (
        {},
        *({"roles_view": "Remove heads", "removed_how": how} for how in ("painted", "patched z")),
        *({"roles_view": view} for view in ("Why this word", "Layer by layer", "Faithful?")),
    ),
    "masks": ({}, {"mask-view": "shift right"}, {"mask-view": "remove the mask"}),
    "positions": (
        {},
        *({"pe_view": view} for view in ("Curves", "Similarity", "Rotation")),
        *(
            {"pe_view": view}
            for view in (
                "Your sentence",
                "Learned",
                "Longer",
                "Remove positions",
            )
        ),
    ),
    "schedule": ({},),
    "training": ({}, {"training_view": "Heads forming"}),
    "architecture": (
        {},
        {"arch_view": "batch or layer"},
        {"arch_view": "parameters"},
    ),
    "figure2": ({}, {"figure2_open": "masked"}, {"figure2_view": "one head instead of h"}),
    "self_attention": ({},),
    "additive": ({}, {"additive_view": "Scale"}),
    "tables": ({},),
    "hooks": ({}, {"hooks_box": "Masked self-attention of the decoder", "hook": "attn_scores"}),
}
"""By the path of its page: the parameters that open each view."""
