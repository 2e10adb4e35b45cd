"""The product under hostile input: fuzzed, malformed, oversized, forged."""
