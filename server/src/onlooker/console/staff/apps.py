"""Django's admin with our site in place of its own."""

from django.contrib.admin.apps import AdminConfig


class StaffConfig(AdminConfig):
    """Registers our pages after those of the apps, so that it has the last word on what there is."""

    default_site = "onlooker.console.staff.site.StaffSite"

    def ready(self) -> None:
        super().ready()
        from onlooker.console.staff.registration import register_pages

        register_pages()
