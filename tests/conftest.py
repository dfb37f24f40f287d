"""What all tests share."""

import hypothesis

# No deadlines: a busy machine is not a bug. In CI the same examples every time.
hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
