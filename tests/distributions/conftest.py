"""The tests in suite/ are run by :mod:`tests.distributions.test_each`, in processes of their own."""

from __future__ import annotations

import os

from tests.distributions.known import VARIABLE

collect_ignore = [] if VARIABLE in os.environ else ["suite"]
