"""Django's own commands, with our settings: `python manage.py check --deploy`."""

import os
import sys

from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "onlooker.console.web.settings"
execute_from_command_line(sys.argv)
