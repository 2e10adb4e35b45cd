"""The audit log: who changed which setting of a stream, and who read which of its numbers. It only grows."""
