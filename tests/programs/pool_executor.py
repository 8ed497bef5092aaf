# Eight threads of a pool that have done their work; with a file: one appends to it.
import concurrent.futures
import sys
import time


def append(path):
    with open(path, "a", buffering=1) as file:
        while True:
            file.write("line\n")
            time.sleep(0.01)


with concurrent.futures.ThreadPoolExecutor(8) as pool:
    list(pool.map(time.sleep, [0.1] * 8))
    if len(sys.argv) > 1:
        pool.submit(append, sys.argv[1])
    print("ready", flush=True)
    time.sleep(100000)
