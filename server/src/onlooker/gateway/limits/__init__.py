"""What bounds a stream and a gateway: rates, places, turns, permits."""
