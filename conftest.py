"""Makes hypothesis draw the same examples in every run, so a test that passes once passes on any machine.

`pytest --hypothesis-profile=explore` draws new examples. Keeps tests away from the config file of who runs them.
"""

import os
import tempfile

# a folder of this process alone: what one run writes there by mistake may not reach the next
os.environ["XDG_CONFIG_HOME"] = os.path.join(tempfile.gettempdir(), f"longsearch-tests-without-config-{os.getpid()}")  # noqa: PTH118

try:
    from hypothesis import settings
except ImportError:  # the machine of the GPU tests may lack hypothesis
    pass
else:
    settings.register_profile("steady", deadline=None, derandomize=True)
    settings.register_profile("explore", deadline=None, max_examples=500)
    settings.load_profile("steady")
