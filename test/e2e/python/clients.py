"""The Python clients, as drivers of the steps of walk.py.

Each is a context manager that logs in at url with the client's own helper and
yields an object whose coroutines are the steps; it lacks those that the client
has no way to take.
"""
import asyncio
import os
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from socket import socket
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

ALERTS = "wick://alerts"
CHART = ("generate_chart", {"bars": 60})
ALERT = ("set_alert", {"symbol": "BTCUSDT", "condition": {"price_above": 1e9}})
TOOLS = int(os.environ["WICK_TOOLS"])  # how many there are
PROMPT = ("chart", {"symbol": "BTCUSDT"})


def visit(url):
    """The browser of a person who allows: returns what the client is sent back with."""
    to = urlsplit(url)
    connection = HTTPConnection(to.netloc, timeout=10)
    connection.request("GET", f"{to.path}?{to.query}")
    return dict(parse_qsl(urlsplit(connection.getresponse().headers["Location"]).query))


class Memory:
    """The official package's storage of tokens, in memory."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def official_login(url):
    """The official package's OAuth helper, which others take too."""
    import mcp.shared.auth as auth
    from mcp.client.auth import OAuthClientProvider

    answer = {}

    async def redirect(to):
        answer.update(visit(to))

    async def callback():
        if hasattr(auth, "AuthorizationCodeResult"):  # of 2.x
            return auth.AuthorizationCodeResult(**answer)
        return answer["code"], answer["state"]

    about = auth.OAuthClientMetadata(client_name="python", redirect_uris=["http://127.0.0.1:41003/callback"])
    return OAuthClientProvider(url, about, Memory(), redirect, callback)


def is_guide(text, resources):
    return text.startswith("# How to read wick") and ALERTS in [str(r.uri) for r in resources]


async def listened(subscription, call):
    """Listen, change the resource by a call, wait."""
    async with subscription as told:
        await call(*ALERT)
        async for event in told:
            return event.uri == ALERTS


class Heard:
    """Collects the resources that the client was told of."""

    def __init__(self):
        self.uris = []

    async def __call__(self, message):
        notification = getattr(message, "root", message)
        if getattr(notification, "method", "") == "notifications/resources/updated":
            self.uris.append(str(notification.params.uri))

    async def push(self, session, call):
        """Subscribe, change the resource by a call, and wait to be told. Over 2.x of
        the official package, sessions speak the newer era and listen instead."""
        try:
            from mcp.client.subscriptions import listen
        except ImportError:
            pass
        else:
            return await listened(listen(session, resource_subscriptions=[ALERTS]), call)
        await session.subscribe_resource(ALERTS)
        await call(*ALERT)
        while ALERTS not in self.uris:
            await asyncio.sleep(0.1)
        return True


def official(s, push):
    """The steps with the methods of the official package's sessions."""

    async def listed():
        tools = await s.list_tools()
        return len(getattr(tools, "tools", tools)) == TOOLS

    async def chart():
        return (await s.call_tool(*CHART)).content[0].type == "image"

    async def resource():
        guide, resources = await s.read_resource("wick://guide"), await s.list_resources()
        return is_guide(guide.contents[0].text, getattr(resources, "resources", resources))

    async def prompt():
        return "BTCUSDT" in (await s.get_prompt(*PROMPT)).messages[0].content.text

    return SimpleNamespace(list=listed, chart=chart, resource=resource, prompt=prompt, push=push)


@asynccontextmanager
async def session1(url, **way):
    """A session of 1.x, whose push waits for what it hears."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    heard = Heard()
    async with streamablehttp_client(url, **way) as (read, write, _):
        async with ClientSession(read, write, message_handler=heard) as s:
            await s.initialize()
            await s.call_tool("get_positions", {})  # initialize alone needs no login
            yield official(s, lambda: heard.push(s, s.call_tool))


def mcp1(url):
    return session1(url, auth=official_login(url))


@asynccontextmanager
async def mcp1_12(url):
    """Its helper sends every request twice and reads the first reply to its end,
    which a stream does not have (async_auth_flow in mcp/client/auth.py). For the
    push the token goes into a header."""
    login = official_login(url)

    async def push():
        token = login.context.current_tokens.access_token
        async with session1(url, headers={"Authorization": f"Bearer {token}"}) as s:
            return await s.push()

    async with session1(url, auth=login) as s:
        s.push = push
        yield s


@asynccontextmanager
async def mcp2(url):
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(auth=official_login(url), timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http)) as c:
            yield official(c, lambda: listened(c.listen(resource_subscriptions=[ALERTS]), c.call_tool))


@asynccontextmanager
async def fastmcp(url):
    from fastmcp import Client

    heard = Heard()
    async with Client(url, auth="oauth", message_handler=heard) as c:

        async def listed():
            return len(await c.list_tools()) == TOOLS

        async def chart():
            return (await c.call_tool(*CHART)).content[0].type == "image"

        async def resource():
            return is_guide((await c.read_resource("wick://guide"))[0].text, await c.list_resources())

        async def prompt():
            return "BTCUSDT" in (await c.get_prompt(*PROMPT)).messages[0].content.text

        yield SimpleNamespace(list=listed, chart=chart, resource=resource, prompt=prompt, push=lambda: heard.push(c.session, c.call_tool))


@asynccontextmanager
async def langchain(url):
    from langchain_mcp_adapters.client import MultiServerMCPClient

    heard = Heard()
    c = MultiServerMCPClient({"wick": {
        "transport": "streamable_http", "url": url, "auth": official_login(url), "session_kwargs": {"message_handler": heard},
    }})
    tools = {t.name: t for t in await c.get_tools()}

    async def listed():
        return len(tools) == TOOLS

    async def chart():
        return (await tools[CHART[0]].ainvoke(CHART[1]))[0]["type"] == "image"

    async def resource():
        guide, = await c.get_resources("wick", uris="wick://guide")
        return is_guide(guide.as_string(), [SimpleNamespace(**r.metadata) for r in await c.get_resources("wick")])

    async def prompt():
        return "BTCUSDT" in (await c.get_prompt("wick", PROMPT[0], arguments=PROMPT[1]))[0].content

    async def push():
        async with c.session("wick") as s:
            return await heard.push(s, s.call_tool)

    yield SimpleNamespace(list=listed, chart=chart, resource=resource, prompt=prompt, push=push)


@asynccontextmanager
async def openai_agents(url):
    from agents.mcp import MCPServerStreamableHttp

    heard = Heard()
    way = {"url": url, "auth": official_login(url)}
    async with MCPServerStreamableHttp(way, client_session_timeout_seconds=30, message_handler=heard) as s:
        await s.call_tool("get_positions", {})  # initialize alone needs no login
        yield official(s, lambda: heard.push(s.session, s.call_tool))


@asynccontextmanager
async def pydantic_ai(url):
    from pydantic_ai.mcp import MCPToolset

    heard = Heard()
    async with MCPToolset(url, auth="oauth", message_handler=heard) as s:

        async def listed():
            return len(await s.list_tools()) == TOOLS

        async def chart():
            return (await s.direct_call_tool(*CHART)).media_type == "image/png"

        async def resource():
            return is_guide(await s.read_resource("wick://guide"), await s.list_resources())

        async def prompt():
            return "BTCUSDT" in str((await s.get_prompt(*PROMPT)).messages[0].content)

        yield SimpleNamespace(list=listed, chart=chart, resource=resource, prompt=prompt, push=lambda: heard.push(s.client.session, s.direct_call_tool))


@asynccontextmanager
async def mcp_use(url):
    from mcp_use import MCPClient

    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    heard = Heard()
    c = MCPClient({"mcpServers": {"wick": {"url": url, "auth": {"callback_port": port}}}}, message_handler=heard)
    try:
        s = await c.create_session("wick")
        yield official(s, lambda: heard.push(s.connector.client_session, s.call_tool))
    finally:
        await c.close_all_sessions()
