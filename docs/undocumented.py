"""What the generator raises when source and explanations differ."""


class Undocumented(Exception):
    """Something in the source has no explanation here, or the other way round."""
