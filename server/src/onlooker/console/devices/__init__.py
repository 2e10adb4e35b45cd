"""The pages of devices, and what devices themselves ask for: enrolment, and a new credential."""
