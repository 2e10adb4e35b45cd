"""Sign-in as companies do it, in a real browser: passkeys, a required second factor, an organisation's own provider."""
