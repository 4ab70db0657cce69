"""What all peers share: one line in, one JSON object out; an empty line asks whether it is ready."""

import json
import sys
import time


def serve(sample):
    """Calls sample(line) for each line; what it returns (a dict or None) is answered with its time."""
    for line in sys.stdin:
        line = line.rstrip("\n")
        if not line:
            answer = {"ready": True}
        else:
            began = time.perf_counter()
            answer = sample(line) or {}
            answer.setdefault("ms", (time.perf_counter() - began) * 1e3)
        print(json.dumps(answer), flush=True)
