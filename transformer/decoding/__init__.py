"""Search for a translation: greedy and beam search, steered and recorded (§6.1)."""

from transformer.decoding.beam import BeamSearch as BeamSearch
from transformer.decoding.beam import beam_search as beam_search
from transformer.decoding.beam import greedy as greedy
from transformer.decoding.constraints import Constraints as Constraints
from transformer.decoding.hypothesis import ALPHA as ALPHA
from transformer.decoding.hypothesis import BEAM_SIZE as BEAM_SIZE
from transformer.decoding.hypothesis import MAX_EXTRA as MAX_EXTRA
from transformer.decoding.hypothesis import NEVER_WRITTEN as NEVER_WRITTEN
from transformer.decoding.hypothesis import Hypothesis as Hypothesis
from transformer.decoding.hypothesis import Node as Node
from transformer.decoding.hypothesis import SearchTree as SearchTree
from transformer.decoding.hypothesis import length_penalty as length_penalty
