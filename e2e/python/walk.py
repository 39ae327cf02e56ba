"""One walk of a Python client: connect, list, chart, resource, prompt, push.

Usage: walk.py CLIENT URL TOKEN, where CLIENT is mcp2, mcp1 or fastmcp. It prints
one JSON object: the steps, each true or what went wrong.
"""
import asyncio
import json
import sys

client_name, url, token = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}"}
steps = {}
updates = []


async def step(name, action):
    try:
        steps[name] = bool(await action()) or "it is not so"
    except Exception as e:  # the table wants to know which step failed
        steps[name] = f"{type(e).__name__}: {e}"[:300]


async def walk(c, text_of, tools_of, resources_of, prompts_of):
    """The steps that all clients have, with what differs between them."""
    await step("list", lambda: tools_of(c))
    await step("chart", lambda: text_of(c, "chart"))
    await step("resource", lambda: resources_of(c))
    await step("prompt", lambda: prompts_of(c))


async def session_steps(s):
    """Steps of a client with the methods of the official package."""

    async def listed(s):
        return len((await s.list_tools()).tools) == 15

    async def chart(s, _):
        content = (await s.call_tool("generate_chart", {"bars": 60})).content[0]
        return content.type == "image"

    async def resources(s):
        guide = await s.read_resource("wick://guide")
        return guide.contents[0].text.startswith("# How to read wick") and len((await s.list_resources()).resources) == 7

    async def prompts(s):
        prompt = await s.get_prompt("chart", {"symbol": "BTCUSDT"})
        return "BTCUSDT" in prompt.messages[0].content.text

    await walk(s, chart, listed, resources, prompts)


async def mcp2():
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http)) as c:
            steps["connect"] = True
            await session_steps(c)


async def mcp1():
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def heard(message):
        if "resources/updated" in str(getattr(getattr(message, "root", None), "method", "")):
            updates.append(str(message.root.params.uri))

    async with streamablehttp_client(url, headers=headers) as (read, write, _):
        async with ClientSession(read, write, message_handler=heard) as s:
            await s.initialize()
            steps["connect"] = True
            await session_steps(s)

            async def push():
                await s.subscribe_resource("wick://alerts")
                await s.call_tool("set_alert", {"symbol": "BTCUSDT", "condition": {"price_above": 1e9}})
                for _ in range(100):
                    if updates:
                        return True
                    await asyncio.sleep(0.1)

            await step("push", push)


async def fastmcp():
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    async with Client(StreamableHttpTransport(url, headers=headers)) as c:
        steps["connect"] = True

        async def listed(c):
            return len(await c.list_tools()) == 15

        async def chart(c, _):
            return (await c.call_tool("generate_chart", {"bars": 60})).content[0].type == "image"

        async def resources(c):
            return (await c.read_resource("wick://guide"))[0].text.startswith("# How to read wick")

        async def prompts(c):
            return "BTCUSDT" in (await c.get_prompt("chart", {"symbol": "BTCUSDT"})).messages[0].content.text

        await walk(c, chart, listed, resources, prompts)


try:
    asyncio.run({"mcp2": mcp2, "mcp1": mcp1, "fastmcp": fastmcp}[client_name]())
except BaseException as e:  # also groups of exceptions
    steps.setdefault("connect", f"{type(e).__name__}: {e}"[:500])
print(json.dumps(steps))
