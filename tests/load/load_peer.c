// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_peer WAY FOLDER: a process that waits for another one, which does nothing about it but
 * sleep, until both are killed. It prints "ready VICTIM CULPRIT". What the victim does, for ever:
 *
 * - tcp, unix, seqpacket: reads from a connection
 * - backlog: asks a server that does not accept
 * - log: sends to a Unix socket that nobody reads
 * - pty: writes to a terminal that nobody reads
 * - pipe, fifo: writes to a pipe, or to one with a name, that nobody reads
 * - empty: reads from a pipe that nobody writes to
 * - script: waits for a child that polls a connection
 * - lock: wants a lock of a file
 * - queue: sends to a message queue that nobody reads
 * - idle: waits for connections; timer: sleeps; run: runs; these three wait for nobody
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the victim has, and the culprit. */
static int own = -1, other = -1;
static const char *folder;

_Noreturn static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

_Noreturn static void rest(void)
{
	for (;;)
		sleep(1000);
}

/* A child that ends with its parent, under a name of its own. */
static pid_t start(const char *name, void (*act)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	act();
	rest();
}

static const char *path(void)
{
	static char text[100];

	snprintf(text, sizeof(text), "%s/peer", folder);
	return text;
}

/* An address of the domain, and its length. */
static socklen_t address_of(int domain, struct sockaddr_storage *address)
{
	struct sockaddr_un *local = (void *)address;
	struct sockaddr_in *inet = (void *)address;

	memset(address, 0, sizeof(*address));
	address->ss_family = (sa_family_t)domain;
	if (domain == AF_UNIX) {
		snprintf(local->sun_path, sizeof(local->sun_path), "%s", path());
		return sizeof(*local);
	}
	inet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof(*inet);
}

/* Binds a socket, and connects another to it: the victim's, once it is accepted or at once. */
static int bind_one(int domain, int type, struct sockaddr_storage *address, socklen_t *len)
{
	int fd = socket(domain, type, 0);

	*len = address_of(domain, address);
	if (fd < 0 || bind(fd, (void *)address, *len) || getsockname(fd, (void *)address, len))
		give_up("bind");
	return fd;
}

static void connect_to(int domain, int type, bool accepts)
{
	struct sockaddr_storage address;
	socklen_t len;
	int fd = bind_one(domain, type, &address, &len);

	own = socket(domain, type, 0);
	if ((accepts && listen(fd, 1)) || own < 0 || connect(own, (void *)&address, len))
		give_up("connect");
	other = accepts ? accept(fd, NULL, NULL) : fd;
	if (other < 0)
		give_up("accept");
	if (accepts)
		close(fd);
}

static void make_tcp(void)
{
	connect_to(AF_INET, SOCK_STREAM, true);
}

static void make_unix(void)
{
	connect_to(AF_UNIX, SOCK_STREAM, true);
}

static void make_seqpacket(void)
{
	connect_to(AF_UNIX, SOCK_SEQPACKET, true);
}

static void make_log(void)
{
	connect_to(AF_UNIX, SOCK_DGRAM, false);
}

static struct sockaddr_storage server;
static socklen_t server_len;

static void make_server(void)
{
	other = bind_one(AF_INET, SOCK_STREAM, &server, &server_len);
	if (listen(other, 0))
		give_up("listen");
}

static void make_pty(void)
{
	other = posix_openpt(O_RDWR | O_NOCTTY);
	if (other < 0 || grantpt(other) || unlockpt(other))
		give_up("ptmx");
	own = open(ptsname(other), O_RDWR | O_NOCTTY);
	if (own < 0)
		give_up("pts");
}

static void make_pipe(void)
{
	int fds[2];

	if (pipe(fds))
		give_up("pipe");
	other = fds[0];
	own = fds[1];
}

static void make_empty(void)
{
	int fd;

	make_pipe();
	fd = own;
	own = other;
	other = fd;
}

static void make_fifo(void)
{
	if (mkfifo(path(), 0600))
		give_up("mkfifo");
	other = open(path(), O_RDONLY | O_NONBLOCK);
	own = open(path(), O_WRONLY);
	if (other < 0 || own < 0)
		give_up("fifo");
}

static void make_file(void)
{
	if (creat(path(), 0600) < 0)
		give_up("creat");
}

static void make_queue(void)
{
	own = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	if (own < 0)
		give_up("msgget");
}

static void drop_other(void)
{
	close(other);
}

static void read_own(void)
{
	char byte;

	drop_other();
	while (read(own, &byte, 1) >= 0)
		continue;
}

static void write_own(void)
{
	static char block[4096];

	drop_other();
	while (write(own, block, sizeof(block)) >= 0)
		continue;
}

static void send_own(void)
{
	static char message[100];

	drop_other();
	while (send(own, message, sizeof(message), 0) >= 0)
		continue;
}

static void ask_server(void)
{
	char byte = 0;

	drop_other();
	own = socket(AF_INET, SOCK_STREAM, 0);
	if (!connect(own, (void *)&server, server_len) && send(own, &byte, 1, 0) == 1)
		recv(own, &byte, 1, 0);
}

static void poll_own(void)
{
	struct pollfd polled = { own, POLLIN, 0 };

	drop_other();
	poll(&polled, 1, -1);
}

static void wait_for_client(void)
{
	pid_t pid = start("peer_client", poll_own);

	drop_other();
	close(own);
	waitpid(pid, NULL, 0);
}

static void lock_file(void)
{
	struct flock lock = { .l_type = F_WRLCK };
	int fd = open(path(), O_RDWR);

	while (fcntl(fd, F_SETLKW, &lock))
		continue;
}

static void send_message(void)
{
	static const struct {
		long type;
		char text[1000];
	} message = { .type = 1 };

	while (!msgsnd(own, &message, sizeof(message.text), 0))
		continue;
}

static void await_clients(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, other, &event);
	epoll_wait(fd, &event, 1, -1);
}

static void run(void)
{
	for (;;)
		continue;
}

static void close_own(void)
{
	if (own >= 0)
		close(own);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(void), (*victim)(void), (*culprit)(void);
	} ways[] = {
		{ "tcp", make_tcp, read_own, close_own },
		{ "unix", make_unix, read_own, close_own },
		{ "seqpacket", make_seqpacket, read_own, close_own },
		{ "backlog", make_server, ask_server, rest },
		{ "log", make_log, send_own, close_own },
		{ "pty", make_pty, write_own, close_own },
		{ "pipe", make_pipe, write_own, close_own },
		{ "fifo", make_fifo, write_own, close_own },
		{ "empty", make_empty, read_own, close_own },
		{ "script", make_tcp, wait_for_client, close_own },
		{ "lock", make_file, lock_file, lock_file },
		{ "queue", make_queue, send_message, rest },
		{ "idle", make_server, await_clients, rest },
		{ "timer", make_file, rest, rest },
		{ "run", make_file, run, rest },
	};
	pid_t victim, culprit;

	folder = argc > 2 ? argv[2] : "/tmp";
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ways[i].make();
		culprit = start("peer_culprit", ways[i].culprit);
		/* It has what it holds before the victim wants it, or a test stops it. */
		usleep(200000);
		victim = start("peer_victim", ways[i].victim);
		/* What a test ends here ends for them, too; of a server a third one has the socket.
		 */
		close_own();
		if (other >= 0)
			close(other);
		printf("ready %d %d\n", (int)victim, (int)culprit);
		fflush(stdout);
		rest();
	}
	fprintf(stderr, "load_peer: no such way\n");
	return 2;
}
