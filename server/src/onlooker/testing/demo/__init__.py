"""A believable past of some streams, for people who look around and for benchmarks.

    fill_demo(database_url, *, days=60, places=PLACES, now=None, owner=OWNER, password=None) -> list[DemoStream]

fills a database that is migrated, roll-up included; `days` goes up to 365. `many_places(30)` are 30 quiet streams.
Without a password the owner can't sign in. What is drawn depends on the places and on `now` alone.
"""

from onlooker.testing.demo.filling import OWNER, DemoStream, fill_demo
from onlooker.testing.demo.places import PLACES, Place, many_places

__all__ = ["OWNER", "PLACES", "DemoStream", "Place", "fill_demo", "many_places"]
