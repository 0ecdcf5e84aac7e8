"""The app: one sentence bar above pages that each show another side of the model."""

from importlib import import_module

import streamlit as st

from headlight import __version__
from viz.app import jobs, log, served
from viz.app.cache.search_queue import turn
from viz.app.lessons import library, panel, saved_views
from viz.app.links import address, navigation
from viz.app.models import menu
from viz.app.sentence import search_request, sentence_bar
from viz.app.view import Page
from viz.draw.labels import PAGE_TITLES, SECTIONS

PAGES: dict[str, Page] = {path: import_module(f"viz.pages.{path}").PAGE for path in PAGE_TITLES}
"""Pages by their paths."""

ABOUT = (
    "**Headlight** shows what every attention head of a Transformer looks at, on your own "
    "sentence. The model follows Vaswani et al., "
    "[*Attention Is All You Need*](https://arxiv.org/abs/1706.03762) (2017).\n\n"
    "Read on: [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/), "
    "Alexander Rush and others, the paper line by line in code; "
    "[*The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/), Jay "
    "Alammar, the model in pictures."
)


def main() -> None:
    """Draw the bar and the page at the address: what Streamlit runs for each user."""
    st.set_page_config(layout="wide", menu_items={"About": ABOUT})

    def show() -> None:
        PAGES[path].show(bar)

    page = st.navigation(
        {
            section: [navigation.page(path, show, default=path == "translate") for path in paths]
            for section, paths in SECTIONS.items()
        },
        position="top",
    )
    path = page.url_path or "translate"
    address.prepare(path, search_request.TEXTS)
    heading = st.container(key="page-title" if path == "translate" else "page-name")
    share = st.container(key="share", horizontal=True, gap="small")
    address.mark_presentation(panel.label("leave"))
    with turn(), menu.models_for_run():
        panel.begin()
        bar = sentence_bar.show(is_used=PAGES[path].needs_sentence)
        navigation.set_page_title(heading, path, bar.text)
        with share:
            saved_views.copy_link()
            library.show()
            saved_views.show(path)
        status = panel.show(path, bar.translation)
        try:
            page.run()
        except jobs.UnfinishedError as unfinished:
            unfinished.show()
        if status is not None:
            panel.notice(*status)
    address.write_address_marker(heading, page.url_path)


if __name__ == "__main__":
    main()
else:  # `streamlit run` imports it for what it is to serve
    log.begin(__version__)
    app = st.App(
        __file__,
        routes=served.routes(),
        lifespan=served.lifespan,
        middleware=served.middleware(),
        exception_handlers={Exception: served.answer_error},
    )
