"""Sphinx configuration of the documentation, which is built without a network: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from headlight import __version__  # noqa: E402 found by the path

project = "Headlight"
author = copyright = "Headlight contributors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
extensions += ["picture", "keyboard", "live"]
suppress_warnings = ["myst.header"]  # the changelog's versions stand below each other
exclude_patterns: list[str] = []

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"  # beside the words of each argument
autodoc_typehints_description_target = "documented_params"
autodoc_preserve_defaults = True
add_module_names = False
default_role = "code"
python_display_short_literal_types = True
nitpick_ignore_regex = [("py:.*", r"(?!headlight\.).*")]  # only the public names have a page

pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = "Headlight"
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#005f8f", "color-brand-content": "#005f8f"},
    "dark_css_variables": {"color-brand-primary": "#7cc4ea", "color-brand-content": "#7cc4ea"},
}
