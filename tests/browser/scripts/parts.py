"""Scripts that each show a part of the app: `/?part=job`, `/?part=pictures`, `/?part=editor`."""

import runpy
from pathlib import Path

import streamlit as st

from viz.app import served

if __name__ == "__main__":
    runpy.run_path(str(Path(__file__).parent / f"{st.query_params['part']}.py"))
else:
    app = st.App(__file__, routes=served.routes(), middleware=served.middleware())
