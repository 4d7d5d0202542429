"""How hypothesis draws in all tests: the same examples in every run, so that what passes once passes on any machine.

`pytest --hypothesis-profile=explore` looks for new ones.
"""

try:
    from hypothesis import settings
except ImportError:  # the tests for a GPU do without
    pass
else:
    settings.register_profile("steady", deadline=None, derandomize=True)
    settings.register_profile("explore", deadline=None, max_examples=500)
    settings.load_profile("steady")
