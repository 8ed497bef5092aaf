# Debian in a folder, for scripts that build there: sourced. Root only.
# shellcheck shell=sh
# All mounts are made in a mount namespace of its own: they are gone with its last process, so
# that removing the folder can't reach through them.

# Whether all is there that the functions below need.
debian_require() {
	[ "$(id -u)" = 0 ] || {
		echo "${0##*/}: needs root" >&2
		return 1
	}
	for debian_program in debootstrap apt-get git unshare; do
		command -v $debian_program >/dev/null || {
			echo "${0##*/}: needs $debian_program" >&2
			return 1
		}
	done
}

# debian_make SUITE FOLDER LOG: makes a Debian that has nothing (minbase), from the mirror that this
# host's apt is set to: that of the suite, or the one of the host's own release, which may have it,
# too. How the host reaches it (proxy, dates it does not check) goes along.
debian_make() {
	# shellcheck disable=SC2016 # the variables are apt's
	debian_mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		awk -v suite="$1" '$2 == suite { own = $1 }
			$2 !~ /-/ && !other { other = $1 }
			END { print own ? own : other }')
	[ -n "$debian_mirror" ] || {
		echo "${0##*/}: this host's apt knows no mirror of $1" >&2
		return 1
	}
	debootstrap --variant=minbase "$1" "$2" "$debian_mirror" >"$3" 2>&1 || {
		tail -n 20 "$3" >&2
		return 1
	}
	apt-config dump Acquire >"$2/etc/apt/apt.conf.d/90host" || return 1
	cp -L /etc/resolv.conf "$2/etc/resolv.conf" 2>/dev/null
	return 0
}

# debian_put SOURCE FOLDER: puts the files of a work tree into FOLDER/stalltop as they are.
debian_put() {
	mkdir -p "$2/stalltop" || return 1
	(cd "$1" && git ls-files -z --cached --others --exclude-standard |
		tar --null --ignore-failed-read -c -f - -T -) | tar -x -f - -C "$2/stalltop"
}

# in_debian FOLDER COMMAND: runs a shell command in that Debian, in FOLDER/stalltop, with an
# environment as bare as the rest.
in_debian() {
	# shellcheck disable=SC2016 # the inner shells' variables
	unshare --mount --propagation private sh -c '
		mount -t proc proc "$1/proc" &&
		mount --rbind /sys "$1/sys" &&
		mount --rbind /dev "$1/dev" || exit 1
		exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=xterm \
			sh -c "cd /stalltop && $2"' sh "$1" "$2" </dev/null
}
