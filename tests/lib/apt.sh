# An apt of one's own, for scripts that fetch Debian's packages of other releases and architectures:
# sourced. Its sources, lists and state are in $apt_folder/apt, so that the host's are not touched;
# mirrors are those of Debian that the host's apt is set to, reached as the host reaches them. No root.
# shellcheck shell=bash disable=SC2154 # the caller sets the variables
# The caller sets apt_folder (absolute), apt_arch, as dpkg names it, and apt_suites, with commas.

# apt_ours COMMAND ARGUMENT...: one of apt's commands, for that architecture, with nothing of the
# host's but its configuration of how to reach a mirror.
apt_ours() {
	local command=$1 user
	shift
	user=$(id -un)
	"$command" -q -o Dir::Etc::SourceList="$apt_folder/apt/sources" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State="$apt_folder/apt" -o Dir::State::Lists="$apt_folder/apt/lists" \
		-o Dir::State::status="$apt_folder/apt/status" -o Dir::Cache="$apt_folder/apt" \
		-o APT::Architecture="$apt_arch" -o APT::Architectures="$apt_arch" \
		-o APT::Sandbox::User="$user" -o Acquire::Retries=2 -o Acquire::Languages=none "$@"
}

# apt_mirror SUITE: where the host's apt has Debian from, or its security updates.
apt_mirror() {
	local label=Debian
	case $1 in *-security) label=Debian-Security ;; esac
	# shellcheck disable=SC2016 # the variables are apt's
	apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' 'Origin: Debian' |
		awk -v label="$label" '$2 == label { print $1; exit }'
}

# apt_lists: the lists of the suites, as new as the mirror has them. Errors are lines "E: ...".
apt_lists() {
	local suite mirror keys=/usr/share/keyrings/debian-archive-keyring.gpg
	mkdir -p "$apt_folder/apt/partial" "$apt_folder/apt/lists" || return 1
	: >>"$apt_folder/apt/status"
	for suite in ${apt_suites//,/ }; do
		mirror=$(apt_mirror "$suite")
		if [ -z "$mirror" ]; then
			echo "E: the host's apt knows no mirror of Debian for $suite (apt-get update)" >&2
			return 1
		fi
		if [ -e $keys ]; then
			echo "deb [signed-by=$keys] $mirror $suite main"
		else
			echo "deb $mirror $suite main"
		fi
	done >"$apt_folder/apt/sources.new" &&
		mv "$apt_folder/apt/sources.new" "$apt_folder/apt/sources" &&
		apt_ours apt-get update --error-on=any
}
