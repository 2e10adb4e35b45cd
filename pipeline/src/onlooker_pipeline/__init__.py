"""From a frame to results, sightings and visits, without a network or a database."""
