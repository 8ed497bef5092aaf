// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of containers: made-up folders of each runtime, and what a hostile one puts there. */
#include "tests/lib/test.h"
#include "tests/lib/tree.h"

#include <time.h>
#include <unistd.h>

#include "base/users.h"
#include "base/util.h"
#include "cgroup/container_names.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID36 "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
#define UID_SLICE "0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0"
#define POD_SLICE "/kubepods.slice/kubepods-pod" UID_SLICE ".slice"
#define DOCKER "/system.slice/docker-" HEX ".scope"
#define DOCKER_FILE "var/lib/docker/containers/" HEX "/config.v2.json"
#define PODMAN_FILE "var/lib/containers/storage/overlay-containers/containers.json"
#define CONTAINERD_FILE "run/containerd/io.containerd.runtime.v2.task/k8s.io/" HEX "/config.json"
#define CRIO_FILE "run/containers/storage/overlay-containers/" HEX "/userdata/config.json"

/* Times of looking, by which every try is due. */
static uint64_t later_ms;

/* Makes the folders of a path, and nothing there. */
static void make_folders(const struct tree *tree, const char *path)
{
	put_text(tree, path, "");
	assert_int_equal(unlinkat(tree->fd, path, 0), 0);
}

/* Asserts what is found for a path; NULL: nothing. */
static void assert_found(struct container_names *names, const char *path, const char *pod,
			 const char *container)
{
	const struct container_name *found =
		container_names_find(names, path, later_ms += 10000000);

	assert_string_equal(found && found->pod ? found->pod : "-", pod ? pod : "-");
	assert_string_equal(found && found->container ? found->container : "-",
			    container ? container : "-");
}

/* Asserts the same of an empty cache. */
static void assert_fresh(const struct tree *tree, const char *path, const char *pod,
			 const char *container)
{
	struct users *users = users_open();
	struct container_names *names = container_names_open(tree->fd, users);

	assert_found(names, path, pod, container);
	container_names_close(names);
	users_close(users);
}

/* Asserts a readable name. */
static void assert_shown(const char *path, const char *pod, const char *container, bool alone,
			 const char *expected)
{
	const struct container_name name = { pod, container };
	struct buf out = { 0 };

	cgroup_name(path, &name, alone, &out);
	assert_string_equal(buf_cstr(&out), expected);
	buf_free(&out);
}

TREE_TEST(test_docker)
{
	const struct tree *tree = *state;

	put_text(tree, DOCKER_FILE, "{\"ID\":\"" HEX "\",\"Name\":\"/web-1\",\"Config\":{}}");
	assert_fresh(tree, DOCKER, NULL, "web-1");
	assert_fresh(tree, "/docker/" HEX "/init.scope", NULL, "web-1");
	assert_fresh(tree, "/docker/" OTHER, NULL, NULL);
	/* Under Kubernetes, with cri-dockerd. */
	put_text(tree, DOCKER_FILE,
		 "{\"Name\":\"/k8s_x\",\"Config\":{\"Labels\":{"
		 "\"io.kubernetes.pod.namespace\":\"prod\",\"io.kubernetes.pod.name\":\"checkout\","
		 "\"io.kubernetes.container.name\":\"payments\"}}}");
	assert_fresh(tree, POD_SLICE "/docker-" HEX ".scope", "prod/checkout", "payments");
	assert_shown(DOCKER, NULL, "web-1", false, "docker:web-1");
	assert_shown(DOCKER "/inner", NULL, "web-1", false, "docker:web-1/inner");
	/* A container within one: only the outer one is known here. */
	assert_shown("/docker/" HEX "/docker/" OTHER, NULL, "web-1", false,
		     "docker:web-1/docker:fedcba987654");
}

TREE_TEST(test_podman)
{
	const struct tree *tree = *state;

	put_text(tree, PODMAN_FILE,
		 "[{\"id\":\"" OTHER "\",\"names\":[\"db\"]},{\"id\":\"" HEX
		 "\",\"names\":[\"web\",\"more\"]}]");
	assert_fresh(tree, "/machine.slice/libpod-" HEX ".scope/container", NULL, "web");
	assert_fresh(tree, "/machine.slice/libpod-conmon-" OTHER ".scope", NULL, "db");
	assert_shown("/machine.slice/libpod-" HEX ".scope", NULL, "web", false, "podman:web");
}

TREE_TEST(test_containerd)
{
	const struct tree *tree = *state;

	put_text(tree, CONTAINERD_FILE,
		 "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"payments\","
		 "\"io.kubernetes.cri.sandbox-name\":\"checkout\","
		 "\"io.kubernetes.cri.sandbox-namespace\":\"prod\"}}");
	assert_fresh(tree, POD_SLICE "/cri-containerd-" HEX ".scope", "prod/checkout", "payments");
	assert_fresh(tree, "/kubepods/burstable/pod" UID36 "/" HEX, "prod/checkout", "payments");
	put_text(tree, "run/containerd/io.containerd.runtime.v2.task/default/" HEX "/config.json",
		 "{\"annotations\":{\"nerdctl/name\":\"box\"}}");
	assert_fresh(tree, "/system.slice/nerdctl-" HEX ".scope", NULL, "box");
}

TREE_TEST(test_crio)
{
	const struct tree *tree = *state;

	put_text(tree, CRIO_FILE,
		 "{\"annotations\":{\"io.kubernetes.container.name\":\"payments\","
		 "\"io.kubernetes.pod.name\":\"checkout\","
		 "\"io.kubernetes.pod.namespace\":\"prod\"}}");
	assert_fresh(tree, POD_SLICE "/crio-" HEX ".scope/container", "prod/checkout", "payments");
}

/* What the kubelet leaves is for all to read: the names of logs, which are not opened. */
TREE_TEST(test_kubelet)
{
	const struct tree *tree = *state;
	static const char log[] = "var/log/containers/checkout_prod_payments-" HEX ".log";

	make_folders(tree, log);
	assert_int_equal(symlinkat("/nowhere", tree->fd, log), 0);
	put_text(tree, "var/log/pods/prod_checkout_" UID36 "/payments/0.log", "");
	assert_fresh(tree, POD_SLICE "/cri-containerd-" HEX ".scope", "prod/checkout", "payments");
	/* The pod alone: a container without log, and the pod's own group. */
	assert_fresh(tree, POD_SLICE "/cri-containerd-" OTHER ".scope", "prod/checkout", NULL);
	assert_fresh(tree, POD_SLICE, "prod/checkout", NULL);
}

/* Pods are shown by their names, in a tree part by part. */
TEST(test_shown)
{
	static const char path[] = POD_SLICE "/cri-containerd-" HEX ".scope";
	const struct container_name name = { "prod/checkout", "payments" };

	assert_shown(path, name.pod, name.container, false, "prod/checkout (payments)");
	assert_shown(path, name.pod, NULL, false, "prod/checkout (0123456789ab)");
	assert_shown(path, name.pod, name.container, true, "payments");
	assert_shown(POD_SLICE, name.pod, NULL, true, "prod/checkout");
	assert_shown(POD_SLICE, NULL, NULL, false, "pod:0f1e2d3c");
	assert_string_equal(cgroup_named(POD_SLICE, &name).pod, "prod/checkout");
	assert_null(cgroup_named(POD_SLICE, &name).container);
	assert_null(cgroup_named("/kubepods.slice", &name).pod);
	assert_string_equal(cgroup_named(path, &name).container, "payments");
}

/* Names that are none are not taken: control bytes, too long, not UTF-8, other types. */
TREE_TEST(test_hostile_names)
{
	static const char *const texts[] = {
		"",
		"{",
		"null",
		"[]",
		"{\"Name\":null}",
		"{\"Name\":[1]}",
		"{\"Name\":\"\"}",
		"{\"Name\":\"/\\u001b[2J\"}",

		"{\"Name\":\"/a b\"}",
		"{\"Name\":\"/a\nb\"}",
		"{\"Name\":\"/\xff\xfe\"}",
		"{\"Name\":\"/a\\\"b\"}",
		"{\"Name\":\"/../x\"}",
		"{\"Name\":\"/\xe2\x80\xae\"}",
	};
	const struct tree *tree = *state;
	struct buf text = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put_text(tree, DOCKER_FILE, texts[i]);
		assert_fresh(tree, DOCKER, NULL, NULL);
	}
	buf_puts(&text, "{\"Name\":\"/");
	for (int i = 0; i < 5000; i++)
		buf_putc(&text, 'a');
	buf_puts(&text, "\"}");
	put_text(tree, DOCKER_FILE, buf_cstr(&text));
	assert_fresh(tree, DOCKER, NULL, NULL);
	buf_free(&text);
}

/* Deep and huge JSON ends, and gives no name. */
TREE_TEST(test_bombs)
{
	const struct tree *tree = *state;
	struct buf text = { 0 };

	for (int i = 0; i < 1000000; i++)
		buf_putc(&text, '[');
	put(tree, DOCKER_FILE, text.data, text.len);
	assert_fresh(tree, DOCKER, NULL, NULL);
	text.len = 0;
	buf_puts(&text, "{\"Name\":\"/big\",\"x\":[0");
	while (text.len < 5 << 20)
		buf_puts(&text, ",0");
	buf_puts(&text, "]}");
	put(tree, DOCKER_FILE, text.data, text.len);
	assert_fresh(tree, DOCKER, NULL, NULL);
	buf_free(&text);
}

/* Opening never waits, and follows no link in the file's place. */
TREE_TEST(test_no_files)
{
	const struct tree *tree = *state;

	make_folders(tree, DOCKER_FILE);
	assert_int_equal(mkfifoat(tree->fd, DOCKER_FILE, 0644), 0);
	assert_fresh(tree, DOCKER, NULL, NULL);
	assert_int_equal(unlinkat(tree->fd, DOCKER_FILE, 0), 0);
	put_text(tree, "elsewhere", "{\"Name\":\"/web\"}");
	assert_int_equal(symlinkat("../../../../../elsewhere", tree->fd, DOCKER_FILE), 0);
	assert_fresh(tree, DOCKER, NULL, NULL);
	assert_int_equal(unlinkat(tree->fd, DOCKER_FILE, 0), 0);
	assert_int_equal(mkdirat(tree->fd, DOCKER_FILE, 0755), 0);
	assert_fresh(tree, DOCKER, NULL, NULL);
}

/* A name is read once; one that is not there yet is looked for a few times more. */
TREE_TEST(test_kept)
{
	const struct tree *tree = *state;
	struct users *users = users_open();
	struct container_names *names = container_names_open(tree->fd, users);

	assert_found(names, DOCKER, NULL, NULL);
	put_text(tree, DOCKER_FILE, "{\"Name\":\"/web\"}");
	assert_found(names, DOCKER, NULL, "web");
	put_text(tree, DOCKER_FILE, "{\"Name\":\"/other\"}");
	assert_found(names, DOCKER, NULL, "web");
	for (int i = 0; i < 10; i++)
		assert_found(names, "/docker/" OTHER, NULL, NULL);
	put_text(tree, "var/lib/docker/containers/" OTHER "/config.v2.json",
		 "{\"Name\":\"/late\"}");
	assert_found(names, "/docker/" OTHER, NULL, NULL);
	/* Groups that are no container's cost nothing. */
	assert_null(container_names_find(names, "/system.slice/nginx.service", later_ms));
	assert_null(container_names_find(names, "/", later_ms));
	container_names_close(names);
	users_close(users);
}

#define HOME_FILE "root/.local/share/containers/storage/overlay-containers/containers.json"

/* Writes a list of so many containers of root's, as podman does; the last is named `last`. */
static void write_list(const struct tree *tree, unsigned n, const char *last)
{
	struct buf text = { 0 };

	for (unsigned i = 0; i < n; i++)
		buf_printf(&text, "%c{\"id\":\"%064x\",\"names\":[\"%s\"]}", i ? ',' : '[', i,
			   i + 1 < n ? "box" : last);
	buf_putc(&text, ']');
	put(tree, HOME_FILE, text.data, text.len);
	buf_free(&text);
}

/* A user's groups, of however many names, have a list in the user's home read now and then. */
TREE_TEST(test_home)
{
	const struct tree *tree = *state;
	struct users *users = users_open();
	struct container_names *names = container_names_open(tree->fd, users);
	const struct container_name *found;
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	char path[200];

	put_text(tree, "proc/self/mountinfo", "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	write_list(tree, 3, "web");
	/* By the outermost slice: whose home it is, is not the user's to say. */
	snprintf(path, sizeof(path), "/user.slice/user-0.slice/user-1.slice/libpod-%064x.scope", 2);
	found = container_names_find(names, path, 1000);
	assert_non_null(found);
	assert_string_equal(found->container, "web");
	write_list(tree, 200, "later");
	snprintf(path, sizeof(path), "/user.slice/user-0.slice/libpod-%064x.scope", 199);
	assert_null(container_names_find(names, path, 2000));
	found = container_names_find(names, path, 9000);
	assert_non_null(found);
	assert_string_equal(found->container, "later");
	/* As large as it may be, and other names all the time: some milliseconds. */
	write_list(tree, 2800, "large");
	began_ns = clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/user.slice/user-0.slice/libpod-%064x.scope",
			 9000 + i);
		assert_null(container_names_find(names, path, 20000 + 10 * i));
	}
	assert_true(clock_ns(CLOCK_MONOTONIC) - began_ns < 500 * NSEC_PER_MSEC);
	/* Larger than that: none. */
	write_list(tree, 20000, "huge");
	snprintf(path, sizeof(path), "/user.slice/user-0.slice/libpod-%064x.scope", 1);
	assert_null(container_names_find(names, path, 60000));
	container_names_close(names);
	users_close(users);
}

/* More containers than are kept push out the oldest ones only. */
TREE_TEST(test_many)
{
	const struct tree *tree = *state;
	struct users *users = users_open();
	struct container_names *names = container_names_open(tree->fd, users);
	char path[128];

	put_text(tree, DOCKER_FILE, "{\"Name\":\"/web\"}");
	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/docker/%064x", (unsigned)i);
		assert_found(names, path, NULL, NULL);
	}
	/* So many looks are more than a second has time for: the next has. */
	sleep(1);
	assert_found(names, DOCKER, NULL, "web");
	container_names_close(names);
	users_close(users);
}
