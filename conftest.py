"""Makes hypothesis draw the same examples in every run, so a test that passes once passes on any machine.

`pytest --hypothesis-profile=explore` draws new examples.
"""

try:
    from hypothesis import settings
except ImportError:  # the machine of the GPU tests may lack hypothesis
    pass
else:
    settings.register_profile("steady", deadline=None, derandomize=True)
    settings.register_profile("explore", deadline=None, max_examples=500)
    settings.load_profile("steady")
