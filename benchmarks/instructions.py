"""Print instructions per call, counted by callgrind: wrappers, C by hand and unchecked C.

    python benchmarks/instructions.py [--environments .venv-bench]

Needs a C compiler ($CC, or cc) and valgrind with its headers. It prints figures and judges none.
With the environments that `make bench-compare` has made, it also counts NVIDIA's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from suite.environments import peers
from suite.instructions import count_instructions
from suite.report import Report
from suite.samples import Samples
from suite.schedule import WAYS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, metavar="FOLDER")
    given: Path | None = parser.parse_args().environments
    nvidia = given.absolute() / "nvidia" / "bin" / "python" if given else None
    samples, missing = Samples(), dict[str, str]()
    with tempfile.TemporaryDirectory() as folder:
        count_instructions(samples, Path(folder), missing, nvidia)
    if missing:
        sys.exit(missing["callgrind"])
    counted = [
        peer for peer in peers() if not peer.packages or (nvidia and peer.module == "nvidia")
    ]
    titles = {peer.module: peer.title for peer in counted}
    print(Report(samples, titles, titles).calls("instructions", WAYS))


if __name__ == "__main__":
    main()
