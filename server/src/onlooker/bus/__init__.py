"""How processes talk: connections, subjects, messages, roles and buckets on NATS."""
