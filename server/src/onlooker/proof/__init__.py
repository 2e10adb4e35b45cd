"""`onlooker prove`: checks each privacy promise on a running installation, and signs a report of what it found."""
