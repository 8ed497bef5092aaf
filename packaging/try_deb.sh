#!/bin/sh
# Installs, upgrades, removes and purges the package in a Debian that has nothing else, and looks
# at what is there at each step. Root only; needs mmdebstrap.
#   try_deb.sh PACKAGE.deb
# TRY_DEBIAN: a folder with such a Debian, in place of a new one below a temporary folder.
set -eu
package=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
debian=${TRY_DEBIAN:-$work/debian}

if [ ! -d "$debian" ]; then
	mmdebstrap --variant=minbase --include="libcap2-bin $(dpkg-deb -f "$package" Depends |
		sed 's/([^)]*)//g; s/|[^,]*//g; s/,/ /g')" "${BARE_SUITE:-bookworm}" "$debian"
fi

# inside COMMAND...: in that Debian, with /proc, none of which outlives it.
inside() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount --fork --pid sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' \
		"$debian" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

say() {
	echo "ok - $*"
}

# The same package under a later version.
dpkg-deb -R "$package" "$work/next"
sed -i 's/^Version: .*/&+next/' "$work/next/DEBIAN/control"
dpkg-deb -b --root-owner-group "$work/next" "$debian/next.deb" >/dev/null
cp "$package" "$debian/first.deb"
find "$debian/usr" "$debian/etc" "$debian/lib" -xdev | sort >"$work/before"

inside dpkg -i /first.deb
[ "$(stat -c %a:%G "$debian/usr/bin/stalltop")" = 755:root ]
[ -z "$(getcap "$debian/usr/bin/stalltop")" ]
inside stalltop -b -n 1 -d 0.2 --source procfs -r 1 >/dev/null
say 'installed, as anybody'

echo 'stalltop stalltop/setcap boolean true' | inside debconf-set-selections
inside dpkg-reconfigure stalltop
[ "$(stat -c %a:%G "$debian/usr/bin/stalltop")" = 750:"$(stat -c %G "$debian/usr/bin/stalltop")" ]
[ "$(inside stat -c %G /usr/bin/stalltop)" = stallwatch ]
inside getcap /usr/bin/stalltop | grep -q 'cap_net_admin=ep'
say 'with the capability for the group'

inside dpkg -i /next.deb
inside getcap /usr/bin/stalltop | grep -q 'cap_net_admin=ep'
[ "$(inside stat -c %a:%G /usr/bin/stalltop)" = 750:stallwatch ]
say 'upgraded, which keeps it'

inside dpkg -r stalltop
[ ! -e "$debian/usr/bin/stalltop" ]
inside dpkg -P stalltop
inside getent group stallwatch >/dev/null && exit 1
find "$debian/usr" "$debian/etc" "$debian/lib" -xdev | sort >"$work/after"
# Backups of the group's files are of who changed them.
diff "$work/before" "$work/after" | grep '^[<>]' | grep -vE '/etc/(group|gshadow|passwd|shadow)-$' && exit 1
say 'removed, and nothing is left'
rm -f "$debian/first.deb" "$debian/next.deb"
