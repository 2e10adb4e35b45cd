"""Sign-in of organisations: a required second factor, and an OpenID provider of their own."""
