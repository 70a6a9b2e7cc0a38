"""The driver: `python -m tests.monkey`."""

import argparse
import sys
import time
from random import SystemRandom

from tests import monkey
from tests.monkey import LENGTH, episode, play, report, sign

TOLD = 50  # episodes after which the driver says how far it is


def main() -> int:
    """Play until the actions or the minutes are up; exit 1 where something was broken."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.monkey", description=(monkey.__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9))
    parser.add_argument("--actions", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--shrink", type=float, default=120, help="seconds to look for a shorter way")
    how = parser.parse_args()
    begun, seed, done, kinds = time.monotonic(), how.seed, 0, dict[str, int]()
    most = how.actions or (LENGTH if how.minutes is None else float("inf"))
    until = begun + 60 * how.minutes if how.minutes else float("inf")
    while done < most and time.monotonic() < until:
        found = episode(seed)
        if error := play(found):
            if sign(error) not in kinds:
                print(report(seed, error, how.shrink), flush=True)
            kinds[sign(error)] = kinds.get(sign(error), 0) + 1
        seed, done = seed + 1, done + len(found.acts)
        if (seed - how.seed) % TOLD == 0:
            print(f"up to seed {seed - 1}: {done} actions", file=sys.stderr, flush=True)
    minutes = (time.monotonic() - begun) / 60
    print(
        f"seeds {how.seed} to {seed - 1}: {done} actions in {minutes:.1f} min, {len(kinds)} kinds of failure"
    )
    for kind, count in kinds.items():
        print(f"  {count} x {kind}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
