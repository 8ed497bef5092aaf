/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/triggers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "cgroup/hierarchy.h"

/*
 * Maximum delay of a report. If the window is a multiple of 2 s the kernel may check every 2 s
 * only, a little before the end of the window, and so reports only every other time (seen on 6.18):
 * lasting pressure is reported that much later than a window after the last time, plus a margin.
 */
#define REPORT_LATE_NS (2500 * NSEC_PER_MSEC)

/* Totals of a pressure file kept per window. */
#define POINTS_A_WINDOW 8

/* True if the kernel accepts any window from this program. */
static bool is_privileged(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capget, &head, caps) &&
	       caps[CAP_TO_INDEX(CAP_SYS_RESOURCE)].effective & CAP_TO_MASK(CAP_SYS_RESOURCE);
}

int trigger_arm(int fd, const struct trigger_spec *spec)
{
	/* The kernel accepts 31 bytes and overwrites the last one by a NUL. */
	char text[32];
	int len = snprintf(text, sizeof(text), "%s %u %u", spec->full ? "full" : "some",
			   spec->threshold_us, spec->window_us) +
		  1;
	ssize_t n;

	do {
		n = write(fd, text, (size_t)len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == len ? 0 : -EIO;
}

/* Opens the group's file, or returns the failed step. The descriptor or -errno. */
static int open_group_file(const struct trigger_spec *spec, int procfd, enum trigger_step *step)
{
	struct buf path = { 0 };
	char file[32];
	int dir, fd = hierarchy_mounted(procfd, NULL, &path);

	*step = TRIGGER_AT_MOUNT;
	if (!fd) {
		*step = TRIGGER_AT_GROUP;
		buf_putc(&path, '/');
		buf_puts(&path, spec->group);
		dir = open(buf_cstr(&path), O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd = dir < 0 ? -errno : 0;
	}
	buf_free(&path);
	if (fd)
		return fd;
	*step = TRIGGER_AT_FILE;
	snprintf(file, sizeof(file), "%s.pressure", psi_names[spec->resource]);
	fd = file_open(dir, file, O_RDWR);
	close(dir);
	return fd;
}

/* Opens the system's file. The descriptor or -errno. */
static int open_system_file(const struct trigger_spec *spec, int procfd)
{
	char path[32];

	snprintf(path, sizeof(path), "pressure/%s", psi_names[spec->resource]);
	return file_open(procfd, path, O_RDWR);
}

/* Reads the stall time since boot. False if unreadable. */
static bool read_total(const struct trigger *trigger, uint64_t *total_us)
{
	const struct psi_line *line;
	struct psi psi;
	char text[256];
	int len = trigger->fd < 0 ? -1 : file_pread(trigger->fd, text, sizeof(text));

	if (len <= 0 || psi_parse(text, (size_t)len, &psi))
		return false;
	line = trigger->spec->full ? &psi.full : &psi.some;
	*total_us = line->total_us;
	return line->valid;
}

/* True if a report can be true. */
static bool is_true(struct trigger *trigger)
{
	uint64_t total_us;

	if (!trigger->unproven || !read_total(trigger, &total_us))
		return true;
	/* A window or more after the previous report has no less stall time than one window. */
	trigger->unproven = total_us < trigger->begin_us + trigger->spec->threshold_us;
	trigger->begin_us = total_us;
	return !trigger->unproven;
}

int triggers_add(struct trigger_set *set, const struct trigger_spec *spec, int procfd,
		 struct trigger_error *why)
{
	struct trigger *trigger;
	int fd, err;

	*why = (struct trigger_error){ .step = TRIGGER_AT_FILE, .privileged = is_privileged() };
	if (trigger_needs_samples(spec)) {
		set->all[set->n++] = (struct trigger){ .spec = spec, .fd = -1 };
		return 0;
	}
	fd = spec->group ? open_group_file(spec, procfd, &why->step)
			 : open_system_file(spec, procfd);
	if (fd < 0)
		return why->err = fd;
	why->step = TRIGGER_AT_WRITE;
	err = trigger_arm(fd, spec);
	if (err) {
		close(fd);
		return why->err = err;
	}
	trigger = &set->all[set->n++];
	*trigger = (struct trigger){ .spec = spec, .fd = fd };
	trigger->unproven = read_total(trigger, &trigger->begin_us);
	return 0;
}

void triggers_fill(const struct trigger_set *set, struct pollfd *fds)
{
	for (size_t i = 0; i < set->n; i++)
		fds[i] = (struct pollfd){ .fd = set->all[i].fd, .events = POLLPRI };
}

size_t triggers_take(struct trigger_set *set, const struct pollfd *fds, uint64_t now_ns)
{
	size_t fired = 0;

	for (size_t i = 0; i < set->n; i++) {
		struct trigger *trigger = &set->all[i];

		if (trigger->fd < 0)
			continue;
		/* poll() reports both for a removed group. */
		if (fds[i].revents & (POLLERR | POLLHUP | POLLNVAL)) {
			close(trigger->fd);
			trigger->fd = -1;
			trigger->gone = true;
		} else if (fds[i].revents & POLLPRI && is_true(trigger)) {
			trigger->fired = true;
			trigger->last_ns = now_ns;
			fired++;
		}
	}
	return fired;
}

void triggers_forget(struct trigger_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		set->all[i].fired = false;
}

size_t triggers_gone(const struct trigger_set *set)
{
	size_t gone = 0;

	for (size_t i = 0; i < set->n; i++)
		gone += set->all[i].gone;
	return gone;
}

/* The larger of two numbers. */
static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The trigger's window in ns. */
static uint64_t window_ns(const struct trigger *trigger)
{
	return trigger->spec->window_us * NSEC_PER_USEC;
}

uint64_t trigger_until_ns(const struct trigger *trigger, uint64_t linger_ns)
{
	if (!trigger->last_ns)
		return 0;
	return trigger->last_ns + larger(linger_ns, window_ns(trigger) + REPORT_LATE_NS);
}

/* True if a total can have its current value, so long after a point. */
static bool can_follow(const struct trigger_point *point, uint64_t now_ns, uint64_t total_us)
{
	const struct psi_line was = { .valid = true, .total_us = point->total_us };
	const struct psi_line is = { .valid = true, .total_us = total_us };
	uint64_t us;

	return now_ns == point->ns || psi_grown(&was, &is, now_ns - point->ns, &us);
}

void trigger_measure(struct trigger *trigger, uint64_t now_ns, uint64_t total_us)
{
	struct trigger_point *points = trigger->points;
	double window = (double)window_ns(trigger), age, grown;

	/* Only the youngest point at least a window old is needed. */
	while (trigger->npoints > 1 && now_ns - points[1].ns >= window_ns(trigger))
		memmove(points, points + 1, --trigger->npoints * sizeof(*points));
	/* A total that fell or jumped proves nothing for the time before. */
	if (trigger->npoints && !can_follow(&points[trigger->npoints - 1], now_ns, total_us))
		trigger->npoints = 0;
	if (trigger->npoints && total_us > points[0].total_us) {
		age = (double)(now_ns - points[0].ns);
		grown = (double)(total_us - points[0].total_us);
		if (age > window)
			grown *= window / age;
		if (grown >= trigger->spec->threshold_us)
			trigger->lasts_ns = now_ns;
	}
	if (trigger->npoints &&
	    now_ns - points[trigger->npoints - 1].ns < window_ns(trigger) / POINTS_A_WINDOW)
		return;
	if (trigger->npoints < TRIGGER_POINTS)
		points[trigger->npoints++] = (struct trigger_point){ now_ns, total_us };
}

void triggers_look(struct trigger_set *set, uint64_t now_ns)
{
	uint64_t total_us;

	for (size_t i = 0; i < set->n; i++)
		if (read_total(&set->all[i], &total_us))
			trigger_measure(&set->all[i], now_ns, total_us);
}

uint64_t triggers_until_ns(const struct trigger_set *set, uint64_t linger_ns)
{
	uint64_t until_ns = 0;

	for (size_t i = 0; i < set->n; i++) {
		const struct trigger *trigger = &set->all[i];

		if (trigger->last_ns)
			until_ns = larger(until_ns,
					  trigger->last_ns + larger(linger_ns, window_ns(trigger)));
		if (trigger->lasts_ns)
			until_ns = larger(until_ns, trigger->lasts_ns + linger_ns);
	}
	return until_ns;
}

void triggers_close(struct trigger_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->all[i].fd >= 0)
			close(set->all[i].fd);
	set->n = 0;
}

/* /proc/vmstat is some 5 kB. */
#define VMSTAT_MAX (64 << 10)

bool incidents_parse_kills(const char *text, size_t len, uint64_t *killed)
{
	struct span rest = { text, text + len }, line;

	while (take_line(&rest, &line))
		if (take_word(&line, "oom_kill ") && take_uint(&line, killed))
			return line.at == line.end;
	return false;
}

/* True if processes were killed since the last check. */
static bool look_at_kills(struct incidents *incidents, int procfd)
{
	uint64_t killed = incidents->killed;
	struct buf text = { 0 };
	bool grown, counted;

	counted = !file_read_all(procfd, "vmstat", &text, VMSTAT_MAX) &&
		  incidents_parse_kills(text.data, text.len, &killed);
	buf_free(&text);
	if (!counted)
		return false;
	grown = incidents->counted && killed > incidents->killed;
	incidents->counted = true;
	incidents->killed = killed;
	return grown;
}

/* True if a wait of any row exceeded that age since the previous sample. */
static bool is_hung(const struct frame *frame, uint64_t age_ns)
{
	const struct frame_info *info = frame->info;
	uint64_t ns;

	if (!info->prev)
		return false;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (!row->unchanged && row_wait(frame, row, &ns) && ns >= age_ns &&
		    ns - age_ns < info->cur->end_ns - info->prev->end_ns)
			return true;
	}
	return false;
}

void incidents_look(struct incidents *incidents, struct trigger_set *set, int procfd,
		    const struct frame *frame, uint64_t now_ns)
{
	bool looked = false, killed = false;

	for (size_t i = 0; i < set->n; i++) {
		struct trigger *trigger = &set->all[i];
		bool fires = false;

		if (trigger->spec->sort == TRIGGER_OOM && !looked) {
			killed = look_at_kills(incidents, procfd);
			looked = true;
		}
		if (trigger->spec->sort == TRIGGER_OOM)
			fires = killed;
		else if (trigger->spec->sort == TRIGGER_HANG)
			fires = is_hung(frame, trigger->spec->hang_ns);
		if (!fires)
			continue;
		trigger->fired = true;
		trigger->last_ns = now_ns;
	}
}
