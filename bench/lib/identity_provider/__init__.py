"""A real OpenID provider (`oidc-provider` from npm) on loopback."""

from bench.lib.identity_provider.process import IdentityProviderProcess, is_installed, running_identity_provider

__all__ = ["IdentityProviderProcess", "is_installed", "running_identity_provider"]
