/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/configuration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/util.h"

/* Maximum size: a longer file is no configuration of ours. */
#define FILE_MAX_BYTES (1 << 20)

char *configuration_path(void)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *below = "";
	char *path;

	/* Relative paths are to be ignored (XDG Base Directory Specification). */
	if (!base || *base != '/') {
		base = getenv("HOME");
		below = "/.config";
	}
	if (!base || *base != '/')
		return NULL;
	if (asprintf(&path, "%s%s/stalltop/config", base, below) < 0)
		die("out of memory");
	return path;
}

/* Reads a file; a missing file counts as empty. Returns 0, or -errno with nothing read. */
static int read_configuration(const char *path, struct buf *out)
{
	int err = file_read_all(AT_FDCWD, path, out, FILE_MAX_BYTES);

	return err == -ENOENT ? 0 : err;
}

/* Appends a path. */
static void append_path(struct buf *out, const char *path)
{
	text_escape(out, path, strlen(path), TEXT_ASCII);
}

/* Appends which lines are broken. */
static void append_broken(struct buf *out, const struct configuration_faults *faults)
{
	buf_add(out, faults->why.data, faults->why.len);
	if (faults->broken > 1)
		buf_printf(out, " (and %zu more)", faults->broken - 1);
}

bool configuration_load(const char *path, struct options *options, struct buf *text,
			struct buf *message)
{
	struct configuration_faults faults = { 0 };
	int err = path ? read_configuration(path, text) : 0;

	bool good;

	if (message->len && err)
		buf_puts(message, "; ");
	if (err) {
		buf_puts(message, "cannot read ");
		append_path(message, path);
		buf_printf(message, ": %s", strerror(-err));
		return false;
	}
	buf_reserve(text, 1); /* configuration_apply() may need it */
	configuration_apply(text->data, text->len, options, &faults);
	good = !faults.broken;
	if (!good || faults.unknown.len) {
		if (message->len)
			buf_puts(message, "; ");
		append_path(message, path);
		buf_puts(message, ": ");
	}
	if (faults.broken)
		append_broken(message, &faults);
	if (faults.unknown.len) {
		buf_puts(message, faults.broken ? "; unknown: " : "unknown: ");
		buf_add(message, faults.unknown.data, faults.unknown.len);
	}
	configuration_faults_free(&faults);
	return good;
}

/*
 * Creates the directories of a path, owned like the one that each is in: root may have another
 * user's HOME. A failure shows later, when the file is created.
 */
static void make_directories(const char *path)
{
	char *copy = xstrdup(path);
	struct stat above;
	bool known = false;

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		/* Not through a link that replaces it meanwhile. */
		if (!mkdir(copy, 0700) && known && lchown(copy, above.st_uid, above.st_gid))
			debug_log("%s: lchown: %s", copy, strerror(errno));
		known = !stat(copy, &above);
		*slash = '/';
	}
	free(copy);
}

/* The text to write: the settings, or (not NULL) one preset. */
struct saving {
	const struct view_config *view;
	const struct preset *preset;
};

/* Rewrites the file, based on its old text. */
static enum configuration_saved write_anew(const char *path, const struct saving *what,
					   const struct buf *old, struct buf *message)
{
	struct buf text = { 0 };
	char *real;
	int err;

	configuration_rewrite(old->data, old->len, what->view, what->preset, &text);
	make_directories(path);
	/* Replaces the file that a link points to, not the link. */
	real = realpath(path, NULL);
	err = file_replace(real ? real : path, &text, true);
	buf_puts(message, err ? "cannot write " : "written: ");
	append_path(message, path);
	if (err)
		buf_printf(message, ": %s", strerror(-err));
	else if (!what->preset)
		configuration_append_names(what->view, message);
	free(real);
	buf_free(&text);
	return err ? CONFIGURATION_FAILED : CONFIGURATION_SAVED;
}

/* True if the path contains a link. */
enum link {
	LINK_NONE,
	LINK_OWN,
	LINK_FOREIGN /* another user's, not root's: it may lead to files which that user may not
		      * write */
};

/* True if a path is a link, and whether it belongs to another user. */
static enum link link_at(const char *path)
{
	struct stat info;

	if (lstat(path, &info) || !S_ISLNK(info.st_mode))
		return LINK_NONE;
	return info.st_uid == geteuid() || !info.st_uid ? LINK_OWN : LINK_FOREIGN;
}

/*
 * The worst result of the file and its folder. Above these, links of the user or of root are the
 * machine's setup; but the owner of a home can redirect any folder in it.
 */
static enum link find_link(const char *path)
{
	enum link worst = LINK_NONE, found;
	char *part = xstrdup(path), *slash;

	for (unsigned up = 0; *part; up++) {
		found = link_at(part);
		if (found > worst && (up < 2 || found == LINK_FOREIGN))
			worst = found;
		slash = strrchr(part, '/');
		*(slash ? slash : part) = '\0';
	}
	free(part);
	return worst;
}

/* Appends the target of a link. */
static void append_link(struct buf *out, const char *path)
{
	char *real = realpath(path, NULL);

	append_path(out, path);
	buf_puts(out, " is a link to ");
	if (real)
		append_path(out, real);
	else
		buf_puts(out, "nothing");
	free(real);
}

/* Asks whether to write if the file is a link, unreadable or broken. */
static void ask_to_write(const char *path, enum link link, int err,
			 const struct configuration_faults *faults, struct buf *message)
{
	if (link) {
		append_link(message, path);
		buf_puts(message, "; ");
	}
	if (err) {
		buf_puts(message, "cannot read ");
		append_path(message, path);
		buf_printf(message, " (%s); replace it?", strerror(-err));
	} else if (faults->broken) {
		buf_puts(message, "configuration ");
		append_broken(message, faults);
		buf_puts(message, "; turn such lines into comments and write?");
	} else {
		buf_puts(message, "write there?");
	}
}

/* Writes to the file, or asks first. */
static enum configuration_saved save_any(const char *path, const struct saving *what, bool force,
					 struct buf *message)
{
	struct configuration_faults faults = { 0 };
	enum configuration_saved saved = CONFIGURATION_ASK;
	struct buf old = { 0 };
	enum link link;
	int err;

	if (!path) {
		buf_puts(message, "no configuration: HOME is not set, or the program has "
				  "privileges that its user has not");
		return CONFIGURATION_FAILED;
	}
	link = find_link(path);
	if (link == LINK_FOREIGN) {
		buf_puts(message, "not written: ");
		append_path(message, path);
		buf_puts(message, ", or a folder above it, is a link of another user");
		return CONFIGURATION_FAILED;
	}
	err = read_configuration(path, &old);
	configuration_check(old.data, old.len, &faults);
	if (force || (!link && !err && !faults.broken))
		saved = write_anew(path, what, &old, message);
	else
		ask_to_write(path, link, err, &faults, message);
	configuration_faults_free(&faults);
	buf_free(&old);
	return saved;
}

enum configuration_saved configuration_save(const char *path, const struct view_config *view,
					    bool force, struct buf *message)
{
	return save_any(path, &(struct saving){ .view = view }, force, message);
}

enum configuration_saved configuration_save_preset(const char *path, const struct preset *preset,
						   bool force, struct buf *message)
{
	return save_any(path, &(struct saving){ .preset = preset }, force, message);
}

/*
 * Applies the administrator's configuration. If it cannot be parsed, every restriction it could
 * contain applies.
 */
static void take_administrator(struct options *options, struct settings_texts *texts,
			       struct buf *why)
{
	if (!configuration_load(CONFIGURATION_SYSTEM, options, &texts->system, why))
		options->readonly = true;
}

/* Applies only the read-only setting of the administrator's configuration. */
static void take_readonly(struct options *options, struct buf *why)
{
	struct settings_texts texts = { 0 };
	struct options system;

	options_default(&system);
	take_administrator(&system, &texts, why);
	options->readonly |= system.readonly;
	options_free(&system);
	settings_texts_free(&texts);
}

bool settings_read(struct options *options, int argc, char **argv, struct settings_texts *texts,
		   struct buf *why)
{
	static const unsigned configured =
		MODE_BIT(MODE_SCREEN) | MODE_BIT(MODE_RECORD) | MODE_BIT(MODE_REPLAY);
	enum mode mode;
	char *path;

	if (options_parse(options, argc, argv, why))
		return false;
	mode = options->mode;
	if (!(MODE_BIT(mode) & configured) || options->help || options->help_all ||
	    options->topic || options->version || options->list_fields ||
	    options->list_site_fields || options->dump_doc) {
		take_readonly(options, why);
		return true;
	}
	options_free(options);
	options_default(options);
	options->mode = mode;
	take_administrator(options, texts, why);
	/* Users must not choose what a program does with privileges that they lack. */
	path = privileges_foreign() ? NULL : configuration_path();
	configuration_load(path, options, &texts->user, why);
	free(path);
	/* A saved setting is a wish; only the command line is a request. */
	options->grouped = false;
	/* The command line was parsed before: `why` is about the configurations. */
	return !options_override(options, argc, argv, why);
}

void settings_texts_free(struct settings_texts *texts)
{
	buf_free(&texts->system);
	buf_free(&texts->user);
}
