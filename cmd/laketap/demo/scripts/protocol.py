"""What the demo's engine scripts share: how they talk to `laketap demo`.

A script prints one JSON object a line and nothing else on standard output.
Every cell of an answer is a string or null; what kind of value a column holds
is said once, in questions.json, so that `laketap demo` can compare engines
that spell the same number in different ways.
"""

import json
import os
import signal
import sys
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
NAMESPACE = "tpch"


def catalog_uri():
    """The one setting that leads an engine to Laketap."""
    return os.environ["CATALOG_URI"]


def questions():
    with open(os.path.join(HERE, "questions.json"), encoding="utf-8") as f:
        return json.load(f)


def emit(**event):
    print(json.dumps(event), flush=True)


def cell(value):
    return None if value is None else str(value)


def answer(question, ask):
    """Times ask() and prints its rows; an engine's error is an answer, too."""
    start = time.monotonic()
    try:
        rows = [[cell(v) for v in row] for row in ask()]
    except Exception as err:
        emit(event="failed", question=question["id"], error=f"{type(err).__name__}: {err}"[:2000])
        return
    emit(event="answer", question=question["id"], rows=rows, seconds=round(time.monotonic() - start, 3))


def die_with_parent():
    """Ends this process group when `laketap demo` is gone, however it went.

    The demo holds the other end of standard input and never writes to it, so
    end of file means that nobody is left to read the answers. The group takes
    the JVMs along that some engines start.
    """
    if os.environ.get("LAKETAP_DEMO") != "1":
        return

    def watch():
        # The descriptor, not sys.stdin: a thread that holds the buffered
        # reader's lock makes the interpreter abort when it exits.
        while os.read(0, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def begin(engine, version):
    emit(event="engine", name=engine, version=version)


def fail(message):
    emit(event="failed", error=message)
    sys.exit(1)


def run(main):
    """Runs a script: what stops it becomes one line of the protocol."""
    die_with_parent()
    try:
        main(*sys.argv[1:])
    except Exception as err:
        traceback.print_exc()  # to the engine's log, where the demo points to
        fail(f"{type(err).__name__}: {err}"[:2000])
