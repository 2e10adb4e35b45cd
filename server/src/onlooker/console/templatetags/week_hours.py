"""`{{ stream.hours|opening_hours }}`: with the weekdays of the reader's language."""

from django import template

from onlooker.console.languages.hours_text import write_hours

register = template.Library()
register.filter("opening_hours", write_hours)
