# Eight threads that wait for work in a queue; with "lock": a lock that one has for long, in turn;
# with "compute": each computes.
import queue
import sys
import threading
import time

work = queue.Queue()
lock = threading.Lock()


def wait():
    while True:
        work.get()


def want():
    while True:
        with lock:
            time.sleep(0.5)


def compute():
    while True:
        sum(range(1000))


run = {"wait": wait, "lock": want, "compute": compute}[sys.argv[1]]
for _ in range(8):
    threading.Thread(target=run, daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
