"""Compare ffi_builder with other builders of TVM-FFI functions, each in turn in every round.

    python benchmarks/compare.py [--quick] [--environments FOLDER] [--output FOLDER]

Needs a C compiler ($CC, or cc). Each peer has its own Python environment, made on the first
run. README.md in this folder describes the peers and the tables.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from pathlib import Path

from native import build, compiler
from suite.environments import (
    HERE,
    MissingPeer,
    environment,
    peers,
    site_packages,
    torch_packages,
)
from suite.imports import importing, machine
from suite.instructions import count_instructions
from suite.plot import plot
from suite.report import Report
from suite.samples import Samples
from suite.schedule import FULL, QUICK, Bench
from suite.workers import Crew


def crews_of(
    chosen: list[str], environments: Path, install: bool, missing: dict[str, str]
) -> tuple[list[Crew], Path | None]:
    """Return the peers of each process, and torch's packages; fill in `missing`."""
    own = [peer.module for peer in peers() if not peer.packages]
    crews: list[Crew] = [(Path(sys.executable), own)]
    for peer in peers():
        if peer.packages and peer.module in chosen:
            try:
                python = environment(environments / peer.module, peer.packages, install)
                crews.append((python, [peer.module]))
            except MissingPeer as why:
                missing[peer.module] = str(why)
    if "torch" not in chosen:
        return crews, None
    try:
        python = environment(environments / "torch_", torch_packages(), install)
        return crews, site_packages(python)
    except MissingPeer as why:
        missing["torch"] = str(why)
    return crews, None


def about(versions: dict[str, str], missing: dict[str, str], quick: bool) -> str:
    """Return what was measured and what was not."""
    titles = {peer.module: peer.title for peer in peers()} | {"torch": "torch"}
    lines = [
        f"{machine()}; Python {platform.python_version()}; {compiler()}."
        + (" A quick run." if quick else ""),
        "Medians, with the quartiles in brackets; ratios are medians of the ratios of each round.",
        "",
        *(f"- {titles[peer]}: {words}" for peer, words in versions.items() if words),
        *(f"- {titles[peer]} is **missing**: {why}" for peer, why in missing.items()),
    ]
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="ffi_builder beside others.")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a minute")
    parser.add_argument(
        "--environments",
        type=Path,
        default=HERE.parent / ".venv-bench",
        help="where the peers' environments are, or are made",
    )
    parser.add_argument("--no-install", action="store_true", help="take those that are there")
    others = [peer.module for peer in peers() if peer.packages]
    parser.add_argument(
        "--peers", default=",".join([*others, "torch"]), help="which others; by default %(default)s"
    )
    parser.add_argument("--output", type=Path, help="a folder for results.md, .json and .svg")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    chosen: list[str] = options.peers.split(",")
    missing: dict[str, str] = {}
    environments = options.environments.absolute()
    crews, torch = crews_of(chosen, environments, not options.no_install, missing)
    samples = Samples()
    effort = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        build(folder)
        versions = Bench(effort, folder, crews, torch, missing, samples).run()
        importing(samples, folder / "bytecode", 3 if options.quick else 15)
        nvidia = next((python for python, modules in crews if modules == ["nvidia"]), None)
        count_instructions(samples, folder, missing, nvidia)
    names = {peer.module: peer.title for peer in peers()}
    titles = {peer: title for peer, title in names.items() if peer in versions}
    header = about(versions, missing, options.quick)
    text = "\n\n".join([f"# Results\n\n{header}", *Report(samples, titles, names).parts()]) + "\n"
    print(text)
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "results.md").write_text(text)
        (options.output / "results.svg").write_text(plot(samples, titles))
        (options.output / "results.json").write_text(json.dumps(samples.as_dict()))


if __name__ == "__main__":
    main()
