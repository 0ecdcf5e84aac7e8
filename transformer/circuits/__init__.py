"""Why a head looks where it looks, and what it writes: paths through the residual stream."""
