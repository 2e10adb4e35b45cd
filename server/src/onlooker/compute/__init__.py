"""The second stage: turns frames into results, in processes that hold no credentials."""
