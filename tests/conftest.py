"""Settings every test shares."""

from __future__ import annotations

import os

from hypothesis import settings

# Same examples in every run, and no time limit that a busy machine could break.
settings.register_profile("ci", derandomize=True, deadline=None, database=None)
# New examples in every run: HYPOTHESIS_PROFILE=explore make test
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
