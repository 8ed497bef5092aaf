// SPDX-License-Identifier: GPL-2.0-or-later
/* Readable names of cgroups: each kind of path that managers make, and paths that only look so. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cgroup/cgroup_name.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID36 "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
#define UID_SLICE "0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0"
#define DIGEST "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

/* Asserts a name; NULL: the path as it is. */
static void assert_name(const char *path, const char *expected)
{
	char *copy = xstrdup(path);
	struct buf out = { 0 };

	buf_puts(&out, "=");
	cgroup_name(copy, NULL, false, &out);
	if (strcmp(buf_cstr(&out) + 1, expected ? expected : path) != 0)
		fail_msg("'%s' is '%s', not '%s'", path, buf_cstr(&out) + 1,
			 expected ? expected : path);
	buf_free(&out);
	free(copy);
}

/* systemd's units, the system's and users'. */
TEST(test_systemd)
{
	assert_name("/system.slice/nginx.service", "nginx.service");
	assert_name("/init.scope", "init.scope");
	assert_name("/system.slice", "system.slice");
	assert_name("/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service");
	assert_name("/system.slice/a\\x2db.service", "a-b.service");
	assert_name("/system.slice/dev-disk-by\\x2duuid-1.swap", "dev-disk-by-uuid-1.swap");
	assert_name("/system.slice/run-lock.mount", "run-lock.mount");
	assert_name("/system.slice/dbus.socket", "dbus.socket");
	assert_name("/system.slice/a.service/worker", "a.service/worker");
	assert_name("/system.slice/a.service/worker/deep", "a.service/worker/deep");
	assert_name("/user.slice", "user.slice");
	assert_name("/user.slice/user-1000.slice", "user-1000.slice");
	assert_name("/user.slice/user-1000.slice/session-2.scope", "user-1000/session-2.scope");
	assert_name("/user.slice/user-1000.slice/user@1000.service", "user-1000/user@1000.service");
	assert_name("/user.slice/user-1000.slice/user@1000.service/app.slice/a.service",
		    "user-1000/a.service");
	assert_name("/user.slice/user-1000.slice/user@1000.service/app.slice/"
		    "app-gnome-org.gnome.Terminal\\x2d1.scope",
		    "user-1000/app-gnome-org.gnome.Terminal-1.scope");
	assert_name("/user.slice/user-1000.slice/user@1000.service/tmux",
		    "user-1000/user@1000.service/tmux");
	/* A slice that has groups of its own making. */
	assert_name("/a.slice/plain", "a.slice/plain");
	assert_name("/a.slice/a-b.slice/plain", "a-b.slice/plain");
	assert_name("/system.slice/gone.service (deleted)", "gone.service (deleted)");
}

/* Containers, by each manager and driver. */
TEST(test_containers)
{
	assert_name("/docker/" HEX, "docker:0123456789ab");
	assert_name("/system.slice/docker-" HEX ".scope", "docker:0123456789ab");
	assert_name("/docker/" HEX "/init.scope", "docker:0123456789ab/init.scope");
	assert_name("/docker/" HEX "/docker/" HEX, "docker:0123456789ab/docker:0123456789ab");
	assert_name("/docker/" HEX " (deleted)", "docker:0123456789ab (deleted)");
	assert_name("/machine.slice/libpod-" HEX ".scope", "podman:0123456789ab");
	assert_name("/machine.slice/libpod-" HEX ".scope/container",
		    "podman:0123456789ab/container");
	assert_name("/machine.slice/libpod-conmon-" HEX ".scope", "podman-conmon:0123456789ab");
	assert_name("/libpod_parent/libpod-" HEX, "podman:0123456789ab");
	assert_name("/libpod_parent/libpod-conmon-" HEX, "podman-conmon:0123456789ab");
	assert_name("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" HEX ".scope",
		    "user-1000/podman:0123456789ab");
	assert_name("/system.slice/cri-containerd-" HEX ".scope", "containerd:0123456789ab");
	assert_name("/x.slice/crio-" HEX ".scope", "crio:0123456789ab");
	assert_name("/x.slice/crio-conmon-" HEX ".scope", "crio-conmon:0123456789ab");
	assert_name("/lxc.payload.web", "lxc:web");
	assert_name("/lxc.payload.web/system.slice/nginx.service", "lxc:web/nginx.service");
	assert_name("/lxc.monitor.web", "lxc-monitor:web");
	assert_name("/lxc/web", "lxc:web");
	assert_name("/lxc/web/init.scope", "lxc:web/init.scope");
	assert_name("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "vm:vm");
	assert_name("/machine.slice/machine-qemu\\x2d12\\x2dweb\\x2d1.scope", "vm:web-1");
	assert_name("/machine.slice/machine-qemu\\x2dvm.scope", "machine:qemu-vm");
	assert_name("/user.slice/user-1000.slice/user@1000.service/app.slice/"
		    "app-flatpak-org.mozilla.firefox-4711.scope",
		    "user-1000/flatpak:org.mozilla.firefox");
	assert_name("/user.slice/user-1000.slice/user@1000.service/app.slice/"
		    "snap.firefox.firefox-" UID36 ".scope",
		    "user-1000/snap:firefox.firefox");
	assert_name("/user.slice/snap.scope", "snap.scope");
	assert_name("/system.slice/nerdctl-" HEX ".scope", "nerdctl:0123456789ab");
	assert_name("/machine.slice/systemd-nspawn@deb.service", "machine:deb");
	assert_name("/machine.slice/systemd-nspawn@deb.service/payload", "machine:deb/payload");
}

/* Kubernetes: pods of each class and the containers in them, by both drivers. */
TEST(test_pods)
{
	assert_name("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_SLICE
		    ".slice/cri-containerd-" HEX ".scope",
		    "pod:0f1e2d3c/0123456789ab");
	assert_name("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_SLICE
		    ".slice/crio-" HEX ".scope",
		    "pod:0f1e2d3c/0123456789ab");
	assert_name("/kubepods.slice/kubepods-pod" UID_SLICE ".slice/docker-" HEX ".scope",
		    "pod:0f1e2d3c/0123456789ab");
	assert_name("/kubepods.slice/kubepods-pod" UID_SLICE ".slice/crio-conmon-" HEX ".scope",
		    "pod:0f1e2d3c/crio-conmon:0123456789ab");
	assert_name("/kubepods.slice/kubepods-pod" UID_SLICE ".slice", "pod:0f1e2d3c");
	assert_name("/kubepods.slice/kubepods-pod" DIGEST ".slice", "pod:0f1e2d3c");
	assert_name("/kubepods.slice/kubepods-burstable.slice", "kubepods-burstable.slice");
	assert_name("/kubepods/burstable/pod" UID36, "pod:0f1e2d3c");
	assert_name("/kubepods/besteffort/pod" DIGEST "/crio-" HEX, "pod:0f1e2d3c/0123456789ab");
	assert_name("/kubepods/pod" UID36 "/crio-conmon-" HEX,
		    "pod:0f1e2d3c/crio-conmon:0123456789ab");
	assert_name("/kubepods/burstable/pod" UID36 "/" HEX, "pod:0f1e2d3c/0123456789ab");
	assert_name("/kubepods/burstable", NULL);
}

/* What is none of these stays what it is. */
TEST(test_others)
{
	assert_name("/", NULL);
	assert_name("", NULL);
	assert_name("/a", NULL);
	assert_name("/a/b c/\303\274", NULL);
	assert_name("/../other", NULL);
	assert_name("/docker", NULL);
	assert_name("/docker/web", NULL);
	assert_name("/lxc", NULL);
	assert_name("/docker/" HEX "0", NULL);
	assert_name("/docker/0123456789ABCDEF" HEX, NULL);
	assert_name("/other/" HEX, NULL);
	assert_name("/docker-" HEX, NULL);
	assert_name("/machine-a.scope.d", NULL);
	assert_name("/pod" UID36 "0", NULL);
	assert_name("/pod0f1e2d3c-4b5a-6978-8796+a5b4c3d2e1f0", NULL);
	assert_name("/burstable/pod", NULL);
	assert_name("/user-1000", NULL);
	assert_name("/a.services/b", NULL);
	assert_name("/.service", NULL);
	assert_name("/.slice/.scope", NULL);
	assert_name("/lxc.payload.", NULL);
	assert_name("/x (deleted)", NULL);
	assert_name(" (deleted)", NULL);
}

/* Made to mislead, or broken: nothing is put back that could, and no byte is lost. */
TEST(test_hostile)
{
	assert_name("/a\\x2fb.service", "a\\x2fb.service");
	assert_name("/a\\x00b.service", "a\\x00b.service");
	assert_name("/a\\x1b[2J.service", "a\\x1b[2J.service");
	assert_name("/a\\x5cx2d.service", "a\\x5cx2d.service");
	assert_name("/a\\x2.service", "a\\x2.service");
	assert_name("/a\\x2D.service", "a\\x2D.service");
	assert_name("/a\\.service\\", NULL);
	assert_name("/\\x2d.service", "-.service");
	assert_name("/\033]0;x\007.service", "\033]0;x\007.service");
	assert_name("/\377\376.slice", "\377\376.slice");
	assert_name("/user.slice/user-0x.slice/a.scope", "a.scope");
	assert_name("/user.slice/user-.slice/a.scope", "a.scope");
	assert_name("a.service", NULL);
	assert_name("/a.slice//b.service", NULL);
	assert_name("/a.service/", NULL);
	assert_name("//", NULL);
}

/* A path as long as they can be, of more components than are looked at, and of few. */
TEST(test_long)
{
	struct buf path = { 0 }, name = { 0 };

	for (unsigned i = 0; i < 64; i++)
		buf_puts(&path, "/a.slice");
	assert_name(buf_cstr(&path), "a.slice");
	buf_puts(&path, "/a.slice");
	assert_name(buf_cstr(&path), NULL);
	path.len = 0;
	buf_putc(&path, '/');
	buf_fill(&path, 'x', 4000);
	buf_puts(&path, ".service");
	buf_puts(&name, buf_cstr(&path) + 1);
	assert_name(buf_cstr(&path), buf_cstr(&name));
	buf_free(&path);
	buf_free(&name);
}

/* Pieces put together at random: there always is a name, and the same one for the same path. */
TEST(test_random)
{
	static const char *const pieces[] = {
		"/",	    "/",      "/",	    ".slice",	  ".scope",
		".service", "docker", "docker-",    "libpod-",	  HEX,
		"pod",	    UID36,    "kubepods",   "lxc",	  "machine.slice",
		"machine-", "\\x2d",  "\\x",	    "user.slice", "user-",
		"1000",	    "crio-",  " (deleted)", "\xff",
	};
	uint32_t random = 1;

	for (unsigned i = 0; i < 200000; i++) {
		struct buf path = { 0 }, one = { 0 }, two = { 0 };

		do {
			random = random * 1664525 + 1013904223;
			buf_puts(&path, pieces[(random >> 16) % ARRAY_SIZE(pieces)]);
		} while (random >> 29);
		cgroup_name(buf_cstr(&path), NULL, false, &one);
		cgroup_name(buf_cstr(&path), NULL, false, &two);
		assert_true(one.len > 0 && one.len <= path.len + 32);
		assert_string_equal(buf_cstr(&one), buf_cstr(&two));
		buf_free(&path);
		buf_free(&one);
		buf_free(&two);
	}
}
