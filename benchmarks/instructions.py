"""Print instructions per call, counted by callgrind: wrappers, C by hand and unchecked C.

    python benchmarks/instructions.py

Needs a C compiler ($CC, or cc) and valgrind with its headers. It prints figures and judges none.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from suite.environments import peers
from suite.instructions import count_instructions
from suite.report import Report
from suite.samples import Samples
from suite.schedule import WAYS


def main() -> None:
    samples, missing = Samples(), dict[str, str]()
    with tempfile.TemporaryDirectory() as folder:
        count_instructions(samples, Path(folder), missing)
    if missing:
        sys.exit(missing["callgrind"])
    titles = {peer.module: peer.title for peer in peers() if not peer.packages}
    print(Report(samples, titles, titles).calls("instructions", WAYS))


if __name__ == "__main__":
    main()
