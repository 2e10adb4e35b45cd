"""A believable past of some streams, for people who explore and for benchmarks.

    fill_demo(database_url, *, days=60, places=PLACES, now=None, owner=OWNER, password=None) -> list[DemoStream]

fills a migrated database, including the roll-up. `days` goes up to 365. `many_places(30)` are 30 quiet streams.
Without a password the owner can't sign in. The data depends on the places and on `now` alone.
"""

from onlooker.demo.history import OWNER, DemoStream, fill_demo
from onlooker.demo.places import PLACES, Place, many_places

__all__ = ["OWNER", "PLACES", "DemoStream", "Place", "fill_demo", "many_places"]
