// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of sockets, from a made-up /proc: by inode, other ends, and when they are read again. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <unistd.h>

#include "kernel/sockets.h"
#include "tests/lib/calls.h"
#include "tests/lib/tree.h"

#define TCP_HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr inode\n"

/* A line of TCP or UDP. */
#define LINE(LOCAL, PEER, STATE, INODE) \
	"   0: " LOCAL " " PEER " " STATE \
	" 00000000:00000000 00:00000000 00000000     0        0 " INODE \
	" 1 000000005d8f7df3 100 0 0 10 0\n"

/* Addresses as this machine writes them, in words of its byte order: 127.0.0.1:8080 and :40000,
 * any. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOOPBACK "0100007F"
#define MAPPED "0000000000000000FFFF0000" LOOPBACK
#else
#define LOOPBACK "7F000001"
#define MAPPED "00000000000000000000FFFF" LOOPBACK
#endif
#define SERVER LOOPBACK ":1F90"
#define CLIENT LOOPBACK ":9C40"
#define ANY "00000000:0000"
#define MAPPED_SERVER MAPPED ":1F90"
#define MAPPED_CLIENT MAPPED ":9C40"

/* Makes task 7 one of a network namespace. */
static struct sockets *open_tree(void **state)
{
	const struct tree *tree = *state;

	put_text(tree, "7/ns/x", "");
	assert_int_equal(symlinkat("net:[4026531840]", tree->fd, "7/ns/net"), 0);
	return sockets_open(tree->proc);
}

/* Parses a line without a byte to spare. */
static bool parse(enum socket_list list, const char *text, struct socket_entry *out)
{
	size_t len = strlen(text);
	char *copy = xcalloc(len, 1);
	struct span name;
	bool ok;

	memcpy(copy, text, len);
	ok = socket_parse(list, (struct span){ copy, copy + len }, out, &name);
	free(copy);
	return ok;
}

/* The fields of a line, and lines that are none. */
TEST(test_parse)
{
	static const uint8_t localhost[16] = { [10] = 0xff, [11] = 0xff, 127, 0, 0, 1 };
	static const char whole[] = LINE(CLIENT, SERVER, "01", "4711");
	struct socket_entry entry;

	assert_true(parse(SOCKETS_TCP, whole, &entry));
	assert_int_equal(entry.ino, 4711);
	assert_int_equal(entry.local.port, 40000);
	assert_int_equal(entry.peer.port, 8080);
	assert_memory_equal(entry.local.address, localhost, 16);
	assert_false(entry.listening);
	assert_true(parse(SOCKETS_TCP6, LINE(MAPPED_CLIENT, MAPPED_SERVER, "0A", "1"), &entry));
	assert_memory_equal(entry.peer.address, localhost, 16);
	assert_true(entry.listening);
	assert_true(parse(SOCKETS_NETLINK,
			  "0000000064b28735 4   0          00000000 0 0 0 2 0        1515    ",
			  &entry));
	assert_int_equal(entry.ino, 1515);
	for (size_t len = 0; len < strlen(whole) - 40; len++) {
		char cut[256];

		snprintf(cut, sizeof(cut), "%.*s", (int)len, whole);
		parse(SOCKETS_TCP, cut, &entry);
		parse(SOCKETS_UNIX, cut, &entry);
		parse(SOCKETS_PACKET, cut, &entry);
	}
	assert_false(parse(SOCKETS_TCP, LINE("0100007F", SERVER, "01", "4711"), &entry));
	assert_false(parse(SOCKETS_TCP, LINE("0100007F:1F9", SERVER, "01", "4711"), &entry));
	assert_false(parse(SOCKETS_TCP, LINE("0100007G:1F90", SERVER, "01", "4711"), &entry));
	assert_false(parse(SOCKETS_TCP, LINE(CLIENT, SERVER, "0", "4711"), &entry));
	assert_false(parse(SOCKETS_TCP, LINE(CLIENT, SERVER, "01", "-4711"), &entry));
	assert_false(parse(SOCKETS_TCP, LINE(CLIENT, SERVER, "01", "4711x"), &entry));
}

/* A client's other end is the server's socket, also one of IPv6, or who listens. */
TREE_TEST(test_peer)
{
	struct sockets *sockets = open_tree(state);
	const struct socket_entry *entry;

	put_text(*state, "7/net/tcp",
		 TCP_HEAD LINE(CLIENT, SERVER, "01", "11") LINE(SERVER, CLIENT, "01", "0"));
	put_text(*state, "7/net/tcp6",
		 TCP_HEAD LINE("00000000000000000000000000000000:1F90",
			       "00000000000000000000000000000000:0000", "0A", "12"));
	assert_true(sockets_enter(sockets, 7));
	assert_false(sockets_ours(sockets));
	entry = sockets_find(sockets, 11);
	assert_non_null(entry);
	entry = sockets_find_peer(sockets, entry);
	assert_non_null(entry);
	assert_int_equal(entry->ino, 12);
	put_text(*state, "7/net/tcp6", TCP_HEAD LINE(MAPPED_SERVER, MAPPED_CLIENT, "01", "13"));
	sockets_renew(sockets);
	entry = sockets_find_peer(sockets, sockets_find(sockets, 11));
	assert_non_null(entry);
	assert_int_equal(entry->ino, 13);
	sockets_close(sockets);
}

/* What cannot change is not read again, a socket without a peer is, and so is a new one. */
TREE_TEST(test_renewal)
{
	struct sockets *sockets = open_tree(state);

	put_text(*state, "7/net/tcp", TCP_HEAD LINE(CLIENT, SERVER, "01", "11"));
	put_text(*state, "7/net/udp", TCP_HEAD LINE(CLIENT, ANY, "07", "21"));
	assert_true(sockets_enter(sockets, 7));
	assert_non_null(sockets_find(sockets, 11));
	assert_int_equal(sockets_find(sockets, 21)->peer.port, 0);
	sockets_renew(sockets);
	assert_int_equal(CALLS_OF(assert_non_null(sockets_find(sockets, 11))), 0);
	put_text(*state, "7/net/udp", TCP_HEAD LINE(CLIENT, SERVER, "01", "21"));
	assert_int_equal(sockets_find(sockets, 21)->peer.port, 8080);
	/* One that is in no list is not looked for again at once. */
	assert_null(sockets_find(sockets, 31));
	sockets_renew(sockets);
	assert_int_equal(CALLS_OF(assert_null(sockets_find(sockets, 31))), 0);
	sockets_close(sockets);
}

/* Names are raw, and of a socket that a forged line claims nothing is said. */
TREE_TEST(test_unix)
{
	static const char head[] = "Num RefCount Protocol Flags Type St Inode Path\n";
	static const char line[] = "0000: 00000002 00000000 00010000 0001 01 41 /run/a b";
	static const char forged[] = "0000: 00000002 00000000 00010000 0001 01 41 /run/good\n"
				     "0000: 00000002 00000000 00010000 0001 01 42 /tmp/\n"
				     "0000: 00000002 00000000 00010000 0001 01 41 /run/forged\n";
	struct sockets *sockets = open_tree(state);
	char text[512];
	struct span name;

	snprintf(text, sizeof(text), "%s%s\n", head, line);
	put_text(*state, "7/net/unix", text);
	assert_true(sockets_enter(sockets, 7));
	assert_non_null(sockets_find(sockets, 41));
	name = sockets_name(sockets, sockets_find(sockets, 41));
	assert_int_equal(name.end - name.at, 8);
	assert_memory_equal(name.at, "/run/a b", 8);
	sockets_renew(sockets);
	snprintf(text, sizeof(text), "%s%s", head, forged);
	put_text(*state, "7/net/unix", text);
	assert_non_null(sockets_find(sockets, 42));
	assert_null(sockets_find(sockets, 41));
	sockets_close(sockets);
}

/* Without a namespace nothing is known. */
TREE_TEST(test_no_space)
{
	struct sockets *sockets = sockets_open(((struct tree *)*state)->proc);

	assert_false(sockets_enter(sockets, 7));
	assert_null(sockets_find(sockets, 1));
	assert_false(sockets_ours(sockets));
	sockets_close(sockets);
	sockets_close(NULL);
}
