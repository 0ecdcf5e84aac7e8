"""Arrays in, Plotly or Altair figure out: no Streamlit, no torch, so as good in a notebook."""
