"""Django's admin, with our site in place of its own."""

from django.contrib.admin.apps import AdminConfig


class StaffConfig(AdminConfig):
    """Registers our tables after the apps have registered theirs, so that ours replace them."""

    default_site = "onlooker.console.staff.site.StaffSite"

    def ready(self) -> None:
        super().ready()
        from onlooker.console.staff.site import register_models

        register_models()
