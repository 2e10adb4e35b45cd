"""By how much a short run may miss its targets of time: few rounds on a busy machine say little about tenths."""

import argparse


def add_allowance(parser: argparse.ArgumentParser) -> None:
    """An option for a short run, which is then a verdict too."""
    parser.add_argument(
        "--allow", type=_factor, default=1.0, metavar="FACTOR", help="by which targets of time may be missed"
    )


def _factor(text: str) -> float:
    factor = float(text)
    if not 1 <= factor < 10:
        raise argparse.ArgumentTypeError("at least 1, and less than 10")
    return factor
