# Four processes of a pool that have done their work.
import multiprocessing
import time

if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool:
        pool.map(abs, range(100))
        print("ready", flush=True)
        time.sleep(100000)
