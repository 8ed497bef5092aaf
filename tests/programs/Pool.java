import java.util.concurrent.*;

/** Pools of several kinds, whose threads have done their work; with an argument so many compute. */
public class Pool {
	static volatile long sum;

	public static void main(String[] args) throws Exception {
		ExecutorService fixed = Executors.newFixedThreadPool(8);
		ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(4);
		ForkJoinPool joined = new ForkJoinPool(4);
		for (int i = 0; i < 8; i++)
			fixed.submit(new Runnable() { public void run() { sum++; } });
		scheduled.scheduleAtFixedRate(new Runnable() { public void run() { sum++; } }, 1, 1,
			TimeUnit.SECONDS);
		joined.submit(new Runnable() { public void run() { sum++; } }).get();
		for (int i = args.length == 0 ? 0 : Integer.parseInt(args[0]); i > 0; i--)
			fixed.submit(new Runnable() { public void run() { for (;;) sum++; } });
		System.out.println("ready");
	}
}
