"""`python -m onlooker` is `onlooker`."""

from onlooker.cli import main

main()
