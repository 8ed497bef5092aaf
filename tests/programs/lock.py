# Locks a file as fcntl() does, and keeps it.
import fcntl
import sys
import time

with open(sys.argv[1], "a") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("ready", flush=True)
    time.sleep(100000)
