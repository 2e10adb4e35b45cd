"""What brings Onlooker onto machines; of Python, only what packs a release."""
