"""Settings of the property tests."""

from hypothesis import settings

# A busy machine is no reason to fail.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
