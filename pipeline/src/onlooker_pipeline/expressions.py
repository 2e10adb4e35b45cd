"""The expressions in the one order that results, session states, visits and metrics share."""

EXPRESSIONS = ("neutral", "happiness", "surprise", "anger", "sadness")
"""A wire format: visits carry the shares alone, in this order."""

Expression = tuple[float, float, float, float, float]
"""A share for each of EXPRESSIONS: from 0 to 1, together 1."""
VALENCES = {
    "positive": ("happiness",),
    "neutral": ("neutral", "surprise"),
    "negative": ("anger", "sadness"),
}
"""A coarser word for each, which is right more often: anger and sadness are taken for one another."""
