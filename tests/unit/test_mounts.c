// SPDX-License-Identifier: GPL-2.0-or-later
/* Mount tables: devices by id, paths by device; and each is read once while it is unchanged. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/mount_tables.h"
#include "kernel/mounts.h"
#include "tests/lib/scratch.h"

#define DEV(MAJOR, MINOR) ((uint32_t)((MAJOR) << 20 | (MINOR)))

static const char table[] =
	"24 1 259:1 / / rw,relatime - ext4 /dev/root rw\n"
	"25 24 0:21 / /proc rw - proc proc rw\n"
	"30 24 8:17 / /mnt/with\\040blank\\134 rw shared:1 - ext4 /dev/sdb1 rw\n"
	"31 24 259:1 /srv/data /data rw - ext4 /dev/root rw\n"
	"32 24 8:33 /below /only rw - ext4 /dev/sdc1 rw\n";

/* A copy without a byte to spare, so that a read past the end is seen. */
static struct span copy_of(const char *text, size_t len)
{
	char *copy = xcalloc(len, 1);

	memcpy(copy, text, len);
	return (struct span){ copy, copy + len };
}

/* Mounts are found by id, with the device as the kernel numbers it. */
TEST(test_device)
{
	struct span text = copy_of(table, strlen(table));
	uint32_t dev = 0;

	assert_true(mount_device(text, 24, &dev));
	assert_int_equal(dev, DEV(259, 1));
	assert_true(mount_device(text, 32, &dev));
	assert_int_equal(dev, DEV(8, 33));
	assert_false(mount_device(text, 2, &dev));
	free((char *)text.at);
}

/* A path within a file system is shown where it is mounted, by the nearest mount. */
TEST(test_path)
{
	static const struct {
		uint32_t dev;
		const char *path, *shown;
	} cases[] = {
		{ DEV(259, 1), "/etc/passwd", "/etc/passwd" },
		{ DEV(259, 1), "/", "/" },
		{ DEV(259, 1), "", "/" },
		{ DEV(259, 1), "/srv/data/x", "/data/x" },
		{ DEV(259, 1), "/srv/data", "/data" },
		{ DEV(259, 1), "/srv/database", "/srv/database" },
		{ DEV(8, 17), "/a\nb", "/mnt/with blank\\/a\nb" },
		{ DEV(8, 17), "/", "/mnt/with blank\\" },
		{ DEV(8, 33), "/below/x", "/only/x" },
		{ DEV(8, 33), "/beside/x", NULL },
		{ DEV(9, 9), "/x", NULL },
	};
	struct span text = copy_of(table, strlen(table));
	struct buf out = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		out.len = 0;
		assert_int_equal(mount_path(text, cases[i].dev, cases[i].path, &out),
				 cases[i].shown != NULL);
		assert_string_equal(buf_cstr(&out), cases[i].shown ? cases[i].shown : "");
	}
	buf_free(&out);
	free((char *)text.at);
}

/* Broken and cut lines are passed over. */
TEST(test_broken)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"24",
		"24 1",
		"24 1 259",
		"24 1 259:",
		"24 1 259:1",
		"24 1 259:1 /",
		"24 1 259:1 / ",
		"24 1 4096:1 / /x rw\n",
		"24 1 259:1048576 / /x rw\n",
		"x 1 259:1 / /x rw\n",
	};
	struct buf out = { 0 };
	uint32_t dev;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct span text = copy_of(texts[i], strlen(texts[i]));

		if (mount_device(text, 24, &dev) || mount_path(text, DEV(259, 1), "/x", &out))
			fail_msg("a mount in \"%s\"", texts[i]);
		free((char *)text.at);
	}
	buf_free(&out);
	/* An escape that is cut or none stays as it is. */
	out = (struct buf){ 0 };
	for (size_t len = 0; len <= strlen(table); len++) {
		struct span text = copy_of(table, len);

		mount_path(text, DEV(8, 17), "/x", &out);
		free((char *)text.at);
	}
	buf_free(&out);
}

/* /proc that hides tasks, by the words of older and later kernels; the last one mounted counts. */
TEST(test_hides)
{
	static const struct {
		const char *text;
		bool hides;
	} cases[] = {
		{ "21 1 0:5 / /proc rw,relatime - proc proc rw\n", false },
		{ "21 1 0:5 / /proc rw shared:3 - proc proc rw,hidepid=1\n", false },
		{ "21 1 0:5 / /proc rw shared:3 - proc proc rw,gid=4,hidepid=2\n", true },
		{ "21 1 0:5 / /proc rw - proc none rw,hidepid=invisible\n", true },
		{ "21 1 0:5 / /proc rw - proc none rw,hidepid=ptraceable\n", true },
		{ "21 1 0:5 / /proc rw - proc none rw,hidepid=noaccess\n", false },
		{ "21 1 0:5 / /x rw - proc none rw,hidepid=2\n", false },
		{ "21 1 0:5 / /proc rw - tmpfs none rw,hidepid=2\n", false },
		{ "21 1 0:5 / /proc rw - proc", false },
		{ "21 1 0:5 / /proc rw - proc x rw,hidepid=2\n22 1 0:5 / /proc rw - proc x rw\n",
		  false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct span text = copy_of(cases[i].text, strlen(cases[i].text));

		if (mount_hides_tasks(text, "/proc") != cases[i].hides)
			fail_msg("case %zu", i);
		free((char *)text.at);
	}
}

/* The file system of a path, and its server, is that of the nearest mount, of several there the
 * last. */
TEST(test_type)
{
	static const char text[] = "21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
				   "22 21 0:40 / /home rw shared:2 master:3 - nfs4 nas:/home rw\n"
				   "23 22 0:41 / /home/a\\040b rw - tmpfs none rw\n"
				   "24 21 0:42 / /mnt rw - autofs none rw\n"
				   "25 24 0:43 / /mnt rw - xfs none rw\n"
				   "26 21 0:44 / /s rw - fuse.sshfs me@nas:/a\\040b rw\n"
				   "27 21 0:45 / /w rw - smb3 //srv/share rw\n";
	static const struct {
		const char *path, *type;
	} cases[] = {
		{ "/", "ext4" },	{ "/homes", "ext4" },	    { "/home", "nfs4" },
		{ "/home/me", "nfs4" }, { "/home/a b/c", "tmpfs" }, { "/mnt/x", "xfs" },
	};
	static const char *const servers[][2] = {
		{ "/home/me/x", "nfs nas:/home" },
		{ "/s/x", "fuse.sshfs me@nas:/a b" },
		{ "/w", "cifs //srv/share" },
		{ "/mnt/x", NULL },
		{ "/", NULL },
	};
	struct span all = copy_of(text, strlen(text)), type, none = { text, text };
	struct buf out = { 0 };
	uint32_t fuse;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!mount_type(all, cases[i].path, &type) || !is_text(&type, cases[i].type))
			fail_msg("%s is not %s", cases[i].path, cases[i].type);
	}
	assert_false(mount_type(none, "/", &type));
	for (size_t i = 0; i < ARRAY_SIZE(servers); i++) {
		out.len = 0;
		assert_int_equal(mount_server(all, servers[i][0], &out, &fuse),
				 servers[i][1] != NULL);
		assert_int_equal(fuse, i == 1 ? 44 : 0);
		assert_string_equal(buf_cstr(&out), servers[i][1] ? servers[i][1] : "");
	}
	buf_free(&out);
	free((char *)all.at);
}
/* A task of a folder that stands for /proc has this table. */
static void set_table(const char *text)
{
	scratch_file(scratch_path("1/mountinfo"), text);
}

/* Asserts what is told of a task's table. */
static void check_table(struct mount_tables *tables, pid_t tid, const char *part, bool there)
{
	struct span text;
	struct buf copy = { 0 };

	assert_int_equal(mount_tables_find(tables, tid, &text), 0);
	buf_add(&copy, text.at, (size_t)(text.end - text.at));
	assert_int_equal(!!strstr(buf_cstr(&copy), part), there);
	buf_free(&copy);
}

/* A table is read once while nothing says that it changed, and after seconds where nothing can. */
TEST(test_read_once)
{
	struct mount_tables *tables;
	int folder;

	scratch_begin();
	folder = open(scratch_folder(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	mkdir(scratch_path("1"), 0700);
	mkdir(scratch_path("1/ns"), 0700);
	assert_int_equal(symlink("mnt:[4711]", scratch_path("1/ns/mnt")), 0);
	set_table("first");
	tables = mount_tables_open(folder);
	check_table(tables, 1, "first", true);
	set_table("second");
	mount_tables_renew(tables);
	check_table(tables, 1, "first", true);
	usleep(5100000);
	check_table(tables, 1, "first", true);
	mount_tables_renew(tables);
	check_table(tables, 1, "second", true);
	/* Another namespace is another table. */
	set_table("third");
	assert_int_equal(unlink(scratch_path("1/ns/mnt")), 0);
	assert_int_equal(symlink("mnt:[4712]", scratch_path("1/ns/mnt")), 0);
	check_table(tables, 1, "third", true);
	mount_tables_close(tables);
	close(folder);
	scratch_end();
}

/* A process in a mount namespace of its own, which mounts one more when a byte comes. */
static pid_t start_mounter(int from, int done)
{
	pid_t pid = scratch_child(fork());
	char byte;

	if (pid)
		return pid;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		_exit(77);
	while (write(done, "", 1) == 1 && read(from, &byte, 1) == 1)
		mount("stalltop-mounted", "/tmp", "tmpfs", 0, NULL);
	_exit(0);
}

/* What is mounted in a namespace is there from the next sample on, and in that namespace alone. */
TEST(test_namespaces)
{
	struct mount_tables *tables;
	int procfd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), go[2], done[2];
	struct pollfd wait;
	pid_t pid;
	char byte;

	scratch_begin();
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	pid = start_mounter(go[0], done[1]);
	close(done[1]);
	wait = (struct pollfd){ .fd = done[0], .events = POLLIN };
	if (poll(&wait, 1, 10000) != 1 || read(done[0], &byte, 1) != 1)
		scratch_skip("no mount namespace can be had");
	tables = mount_tables_open(procfd);
	check_table(tables, pid, "stalltop-mounted", false);
	check_table(tables, getpid(), "stalltop-mounted", false);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(poll(&wait, 1, 10000), 1);
	for (unsigned i = 0; i < 120; i++) {
		struct span text;

		mount_tables_renew(tables);
		assert_int_equal(mount_tables_find(tables, pid, &text), 0);
		if (memmem(text.at, (size_t)(text.end - text.at), "stalltop-mounted", 16))
			break;
		usleep(50000);
	}
	check_table(tables, pid, "stalltop-mounted", true);
	check_table(tables, getpid(), "stalltop-mounted", false);
	scratch_kill(pid);
	mount_tables_renew(tables);
	assert_int_equal(mount_tables_find(tables, pid, &(struct span){ NULL, NULL }), -ENOENT);
	mount_tables_close(tables);
	close(procfd);
	close(go[0]);
	close(go[1]);
	close(done[0]);
	scratch_end();
}
