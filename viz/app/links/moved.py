"""Views that are gone, and where what they showed is now."""

_GONE = {
    "Faithful?": "The view Faithful? has left the app: headlight evaluate faithfulness tests how "
    "well lenses find the words that matter.",
}


def farewell(view: str | None) -> str:
    """Say in one sentence where a view went that a link names; "" for any other."""
    return _GONE.get(view or "", "")
