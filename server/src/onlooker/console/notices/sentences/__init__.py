"""Every sentence of notices and of the public page, once in each language: one dictionary a language, the same keys."""
