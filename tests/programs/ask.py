# Sends a line to a Unix socket and waits for the answer, for ever: ask.py SOCKET LINE [http]
import socket
import sys

client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
line = sys.argv[2].encode().decode("unicode_escape").encode()
while True:
    client.sendall(line)
    if not client.recv(65536):
        break
