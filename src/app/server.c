/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/address.h"
#include "app/http.h"
#include "base/process.h"
#include "base/util.h"

/* Minimum time between two texts: samples of every second, which jitter, all pass. */
#define PERIOD_NS (750 * NSEC_PER_MSEC)

/* Maximum descriptors of the process: connections, files of texts still being sent. */
#define DESCRIPTORS 512

struct server {
	const char *address, *names;
	struct address_sockets sockets;
	int texts; /* the sender's end */
	pid_t pid; /* 0: there is none */
	uint64_t sent_ns; /* CLOCK_MONOTONIC; 0: nothing was sent yet */
	struct buf text; /* scratch buffer */
};

bool server_is_built(void)
{
#ifdef MICROHTTPD_BUILT
	return true;
#else
	return false;
#endif
}

/* Drops all capabilities, for good, and whatever answering does not need. 0 or -errno. */
static int drop_privileges(void)
{
	const struct rlimit descriptors = { DESCRIPTORS, DESCRIPTORS }, none = { 0, 0 };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capset, &header, data) ||
	    setrlimit(RLIMIT_NOFILE, &descriptors) || setrlimit(RLIMIT_CORE, &none) ||
	    setrlimit(RLIMIT_FSIZE, &none))
		return -errno;
	return 0;
}

/* The answering process. It exits with the program. */
_Noreturn static void be_server(const struct server *server, int texts)
{
	const struct address_sockets *sockets = &server->sockets;
	int keep[ADDRESS_SOCKETS + 1] = { texts };
	struct http_names names = { .address = server->address, .more = server->names };
	struct utsname machine;

	/* Clients need no name if only this machine calls. */
	if (address_is_open(sockets) && !uname(&machine))
		names.node = machine.nodename;
	memcpy(keep + 1, sockets->fds, sockets->count * sizeof(*keep));
	process_become_helper("stalltop-http", keep, sockets->count + 1);
	if (drop_privileges() || confine_calls() || http_serve(sockets, texts, &names))
		_exit(EXIT_FAILURE);
	_exit(EXIT_SUCCESS);
}

/* Starts the process. 0 or -errno. */
static int start_server(struct server *server)
{
	/* As small as possible: unread texts need not wait. */
	int ends[2], bytes = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	server->texts = ends[0];
	server->pid = fork();
	if (!server->pid)
		be_server(server, ends[1]);
	close(ends[1]);
	if (server->pid < 0) {
		server->pid = 0;
		return -errno;
	}
	return 0;
}

bool server_open(struct server **out, const char *address, const char *names, struct buf *why)
{
	struct server *server = xcalloc(1, sizeof(*server));
	bool there;
	int err;

	server->address = address;
	server->names = names;
	server->texts = -1;
	there = address_listen(address, &server->sockets, why);
	err = there ? start_server(server) : 0;
	if (err)
		buf_puts(why, strerror(-err));
	if (!there || err) {
		server_close(server);
		return false;
	}
	*out = server;
	return true;
}

/* Writes a text into a sealed file in memory. Returns the descriptor or -errno. */
static int make_memory_file(const struct buf *text)
{
	const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int fd = memfd_create("stalltop-metrics", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, text->data, text->len);
	if (!err && fcntl(fd, F_ADD_SEALS, seals))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Sends a file. 0, or -errno if it was not accepted. */
static int send_file(const struct server *server, const struct http_texts *texts, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = (void *)texts, .iov_len = sizeof(*texts) };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(server->texts, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int server_send(struct server *server, const struct out *out)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct http_texts texts;
	int fd, err, status;

	if (waitpid(server->pid, &status, WNOHANG) == server->pid) {
		server->pid = 0;
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? -EPERM : -ECHILD;
	}
	if (server->sent_ns && now_ns - server->sent_ns < PERIOD_NS)
		return 0;
	server->text.len = 0;
	for (unsigned i = 0; i < EXPOSITIONS; i++) {
		size_t before = server->text.len;

		openmetrics_append(&server->text, out, i);
		texts.size[i] = server->text.len - before;
	}
	fd = make_memory_file(&server->text);
	err = fd < 0 ? fd : send_file(server, &texts, fd);
	if (fd >= 0)
		close(fd);
	/* The next sample is the next try. */
	if (err)
		debug_log("metrics: a sample is not handed on: %s", strerror(-err));
	else
		server->sent_ns = now_ns;
	return 0;
}

bool server_is_open(const struct server *server)
{
	return address_is_open(&server->sockets);
}

void server_close(struct server *server)
{
	if (!server)
		return;
	if (server->texts >= 0)
		close(server->texts);
	/* The process has nothing to finish, and may be busy with a client. */
	if (server->pid) {
		kill(server->pid, SIGKILL);
		waitpid(server->pid, NULL, 0);
	}
	address_close(server->address, &server->sockets);
	buf_free(&server->text);
	free(server);
}
