# A server of asyncio that echoes lines, at a Unix socket; something ticks in it.
import asyncio
import sys


async def echo(reader, writer):
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()


async def tick():
    while True:
        await asyncio.sleep(0.5)


async def main():
    ticking = asyncio.create_task(tick())
    server = await asyncio.start_unix_server(echo, sys.argv[1])
    print("ready", flush=True)
    async with server:
        await server.serve_forever()
    await ticking


asyncio.run(main())
