"""One walk of a Python client: login, list, chart, resource, prompt, push.

Usage: walk.py DRIVER URL, where DRIVER is a function of clients.py. It prints one
JSON object: the steps, each true or what went wrong.
"""
import asyncio
import json
import sys
import traceback

import clients

driver, url = sys.argv[1:]
steps = {}


async def step(name, action):
    """Notes whether action's result is true. A client without it takes no step."""
    if action is None:
        return
    try:
        steps[name] = bool(await asyncio.wait_for(action(), 60)) or "it is not so"
    except Exception as e:  # the table wants to know which step failed
        steps[name] = f"{type(e).__name__}: {e}"[:300]


async def walk():
    async with getattr(clients, driver)(url) as c:
        steps["login"] = True  # as far as the client knows; the server's log says more
        for name in ("list", "chart", "resource", "prompt", "push"):
            await step(name, getattr(c, name, None))


try:
    asyncio.run(asyncio.wait_for(walk(), 240))
except BaseException:  # groups of exceptions too
    why = traceback.format_exc()[-700:]
    if "login" in steps:
        steps["end"] = why
    else:
        steps["login"] = why
print(json.dumps(steps))
