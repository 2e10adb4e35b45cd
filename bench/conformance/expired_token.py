"""Prints a token like the given one that expired a minute ago, signed with the console's own key."""

import sys
import time

import jwt

from onlooker.cli.administration import open_django


def main() -> None:
    open_django()
    from onlooker.console.tokens.signing_keys import signing_key

    kid, private = signing_key()
    claims = jwt.decode(sys.argv[1], options={"verify_signature": False})
    print(jwt.encode(claims | {"exp": int(time.time()) - 60}, private, algorithm="ES256", headers={"kid": kid}))


if __name__ == "__main__":
    main()
