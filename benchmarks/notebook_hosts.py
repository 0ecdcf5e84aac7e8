"""Frames as other notebooks put them around an output, imitated in one page.

What stands here is what their sources and documents say, not a run of these programs:

- VS Code puts all outputs into one webview, and with `notebook.experimental.enableCsp` gives it the
  policy below (microsoft/vscode, notebook/browser/view/renderers/backLayerWebView.ts).
- Colab puts each output into a sandboxed frame of its own, on another origin (its notebook
  "Advanced outputs"); at its strictest such a frame has scripts and no origin at all.
"""

from __future__ import annotations

from html import escape

VSCODE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src https: http: data:; font-src https:; connect-src https:; child-src https: data:"
)
_PAGE = "<!doctype html><html><head><meta charset='utf-8'>{head}</head><body>{body}</body></html>"


def imitated(output: str) -> dict[str, str]:
    """A page for each host, with one output in it.

    Args:
        output: HTML, as a cell gives it out.
    """
    inner = escape(_PAGE.format(head="", body=output))
    policy = f'<meta http-equiv="Content-Security-Policy" content="{VSCODE_POLICY}">'
    return {
        "the policy of VS Code's webview": _PAGE.format(head=policy, body=output),
        "a sandboxed frame with an origin": _framed(inner, "allow-scripts allow-same-origin"),
        "a sandboxed frame without one": _framed(inner, "allow-scripts"),
    }


def _framed(inner: str, sandbox: str) -> str:
    frame = f'<iframe sandbox="{sandbox}" srcdoc="{inner}" style="width:100%;height:90vh"></iframe>'
    return _PAGE.format(head="", body=frame)
