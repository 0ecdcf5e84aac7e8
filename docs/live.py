"""Pictures that move: with the tag `live`, frames of a site take the place of stills (`make site`).

The pages lie in the site's folder `docs`. Each page allows no other host in any case.
"""

from html import escape
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

# from the images of the pages: the page of the site, its part and its height in rem
FRAMES = {
    "watch.webp": ("index.html", "watch", 36),
    "heads.png": ("index.html", "heads", 44),
    "ribbons.png": ("index.html", "links", 20),
    "lesson.png": ("lesson-attention.html", "lesson", 48),
}
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'self\' data: blob:; '
    "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'\">"
)


def _frame_stills(app: Sphinx, doctree: nodes.document) -> None:
    if not app.tags.has("live"):
        return
    up = "../" * (app.env.docname.count("/") + 1)
    for image in list(doctree.findall(nodes.image)):
        name, parent = PurePosixPath(image["uri"]).name, image.parent
        if name not in FRAMES or isinstance(parent.parent, nodes.entry):  # in a table it is small
            continue
        page, part, height = FRAMES[name]
        title = escape(image.get("alt", ""))
        frame = (
            f'<iframe class="live" loading="lazy" src="{up}{page}#{part}" '
            f'style="height:{height}rem" title="{title}"></iframe>'
            f'<a href="{up}{page}#{part}">Open this picture in a page of its own</a>'
        )
        image.replace_self(nodes.raw("", frame, format="html"))


def _add_policy(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _: Any) -> None:
    context["metatags"] = POLICY + context.get("metatags", "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Put frames in before the images are collected, and the policy into each page."""
    app.connect("doctree-read", _frame_stills, priority=100)
    app.connect("html-page-context", _add_policy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
